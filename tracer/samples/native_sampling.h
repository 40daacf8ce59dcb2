// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Samples of all threads of the program by the kernel's clock of their processor time: native
// stacks. Threads are found in /proc, once a second and when a thread has got a ring.
//
// The sampler's thread alone.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tracer/samples/native_events.h"
#include "tracer/samples/sample_ring.h"

namespace gpuprof::tracer {

class NativeSampling {
 public:
  NativeSampling(const Host* host, SampleRing* ring);

  // Begins with the threads that there are. 0, or the errno of the kernel's refusal.
  int Begin();
  // Writes the samples since the last tick.
  void Tick(uint64_t now);

  // Samples that the kernel had no room for, and those of threads beyond the most.
  uint64_t lost() const { return lost_; }
  bool has_too_many() const { return has_too_many_; }

 private:
  struct Thread {
    int32_t tid = 0;
    bool is_seen = false;
    uint64_t lost = 0;
    NativeEvents events;
  };
  struct Taken {
    uint64_t time;
    int32_t tid;
    uint32_t first, frames;  // in pcs_
  };

  void UpdateThreads();
  void Take(Thread* thread, uint64_t now, uint64_t now_ns);

  const Host* host_;
  SampleRing* ring_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Taken> taken_;
  std::vector<uint64_t> pcs_;
  std::unique_ptr<NativeSample> sample_;
  uint32_t tracks_ = 0;  // assigned when threads were last looked for
  uint64_t next_look_ns_ = 0;
  uint64_t lost_ = 0;
  bool has_too_many_ = false;
};

}  // namespace gpuprof::tracer
