// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The device's listener. One per process.

#pragma once

#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/device/sink.h"

namespace fake_gpu_cupti {

class CuptiSink final : public fake_gpu::Sink {
 public:
  void Enter(fake_gpu::Call* call) override;
  void Exit(fake_gpu::Call* call) override;
  void CallReplayed(const fake_gpu::Call& call, uint64_t end) override;
  void Finished(const fake_gpu::Done& done) override;
  bool RecordsWholeGraphs() override;
  void GraphLaunched(const fake_gpu::Done& done) override;
  void Synchronized(const fake_gpu::Sync& sync) override;
  void EventRecorded(CUevent event, uint64_t time, uint32_t correlation) override;
  void MemoryChanged(const fake_gpu::MemoryChange& change) override;
  void PoolChanged(CUmemoryPool pool, uint32_t what, uint64_t kept, uint32_t correlation) override;
  void Migrated(const fake_gpu::Migration& migration) override;
  void ObjectChanged(const fake_gpu::Object& object) override;
  void FunctionLoaded(CUfunction function, uint64_t start, uint64_t end,
                      uint32_t correlation) override;
  const char* PlayBuffers() override;
  void DriverExited() override;

 private:
  static void CallBackOf(fake_gpu::Call* call, uint32_t site);
};

}  // namespace fake_gpu_cupti
