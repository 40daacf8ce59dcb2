// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Looks at all Python threads once a tick. Equal samples of a thread that follow each other become
// one, which stands for their time together.
//
// The sampler's thread alone.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tracer/python/code_names.h"
#include "tracer/python/python_threads.h"
#include "tracer/samples/sample_ring.h"
#include "tracer/samples/thread_state.h"

namespace gpuprof::tracer {

class PythonSampling {
 public:
  PythonSampling(const Host* host, const Interpreter& interpreter, SampleRing* ring);

  // Samples each thread. A sample stands for the time since the last tick.
  void Tick(uint64_t now);
  // Writes samples that go on for long: of a process that is killed they would be missing. Behind
  // everything else of the tick.
  void WriteLong(uint64_t now);
  // Writes what is not in the ring yet.
  void Finish();

  uint64_t stacks() const { return stacks_; }
  uint64_t bad() const { return bad_; }

 private:
  // A sampled thread, with its sample that may go on.
  struct Sampled {
    uint64_t place = 0;  // ThreadState::place
    uint64_t leaf = 0;
    ThreadState state;
    bool is_seen = false;
    bool is_open = false;  // there is a sample
    Sample sample;
    std::vector<uint64_t> stack;
  };

  Sampled* Find(int32_t tid);
  void Look(const PythonThread& thread, Sampled* sampled, uint64_t now);
  bool ReadStack(const PythonThread& thread, uint64_t now);
  void Close(Sampled* sampled);
  int32_t HolderOf(uint64_t gil) const;

  const Host* host_;
  SampleRing* ring_;
  PythonThreads python_;
  CodeNames names_;
  std::vector<std::unique_ptr<Sampled>> sampled_;
  std::vector<PythonThread> threads_;
  std::vector<PythonFrame> frames_;
  std::vector<uint64_t> stack_;
  uint64_t before_;  // the last tick
  uint64_t stacks_ = 0;
  uint64_t bad_ = 0;
};

}  // namespace gpuprof::tracer
