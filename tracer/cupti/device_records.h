// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What CUPTI tells of devices, contexts and streams themselves: once each, or again in every
// capture for those that are there already. Which device a context is on, how a stream was made and
// which handle it has is kept for the rows that refer to them.
//
// One thread at a time (the drain's pass). Bounded; nothing of CUPTI's is called.

#pragma once

#include <cstdint>
#include <vector>

#include "tracer/cupti/abi.h"
#include "tracer/cupti/context_events.h"
#include "tracer/cupti/stream_events.h"

namespace gpuprof::tracer::cupti {

// What CUPTI sets aside for its records in each context, as its attributes tell.
struct OwnBuffers {
  uint64_t bytes_per_context = 0;  // 0: it does not tell
  bool is_pinned = false;          // in the host's memory
};

class DeviceRecords {
 public:
  static constexpr size_t kMostDevices = 256;
  static constexpr size_t kMostContexts = 4096;
  static constexpr size_t kMostStreams = 1u << 16;

  struct Stream {
    uint32_t context = 0, id = 0;
    bool is_described = false;  // by a record: of its
    int32_t priority = 0;
    uint32_t flag = 0;    // CUpti_ActivityStreamFlag
    uint64_t handle = 0;  // 0: not told
    uint64_t handle_since = 0;
  };

  void TakeDevice(const Record& record);
  void TakeContext(const Record& record);
  // It came, or goes: told once, with what is new of devices.
  void TakeContextEvent(const ContextEvent& event) { context_events_.push_back(event); }
  // What is known of the stream now; null: no room was left for it.
  const Stream* TakeStream(const Record& record);
  // False: no room was left for it.
  bool TakeHandle(const StreamEvent& event);

  // kNoId: not told.
  uint32_t DeviceOf(uint32_t context) const;
  // Null: not told.
  const Stream* Find(uint32_t context, uint32_t stream) const;

  // The capture that begins now found CUDA begun.
  void NoteCudaHadBegun() { cuda_had_begun_ = true; }
  bool has_news() const {
    return cuda_had_begun_ || taken_ < devices_.size() || !context_events_.empty();
  }
  // Appends what is new as a Devices message; returns how many entries, one where it is but the
  // note.
  uint32_t Take(const OwnBuffers& own, std::vector<uint8_t>* out);

 private:
  struct Device {
    uint32_t id = 0;
    char name[64] = {};
    uint8_t uuid[16] = {};
    uint32_t compute[2] = {};
    uint32_t multiprocessors = 0, core_clock_khz = 0;
    uint64_t memory_bandwidth = 0, memory_bytes = 0;
    uint32_t l2_bytes = 0, threads_per_warp = 0;
    uint32_t warps_per_multiprocessor = 0, blocks_per_multiprocessor = 0;
    uint32_t shared_per_multiprocessor = 0, registers_per_multiprocessor = 0;
    uint32_t shared_per_block = 0, registers_per_block = 0, threads_per_block = 0;
    bool is_mig = false;
    uint32_t gpu_instance = 0, compute_instance = 0;
  };
  struct Context {
    uint32_t id, device;
  };

  // Made where there is none yet; null: no room.
  Stream* Place(uint32_t context, uint32_t stream);
  static void Put(const Device& device, const OwnBuffers& own, std::vector<uint8_t>* out);

  std::vector<Device> devices_;
  std::vector<Context> contexts_;
  std::vector<ContextEvent> context_events_;  // that were not taken yet
  std::vector<Stream> streams_;               // by context and id
  size_t taken_ = 0;
  bool cuda_had_begun_ = false;
};

}  // namespace gpuprof::tracer::cupti
