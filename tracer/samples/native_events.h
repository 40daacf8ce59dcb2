// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Samples of a thread by the kernel's software clock of tasks (perf_event_open): after each 10 ms
// of processor time the registers and the top of the stack. No signal, no hardware counter. The
// kernel may refuse: many containers and machines allow it to nobody.
//
// The sampler's thread alone, with its own table of descriptors.

#pragma once

#include <cstdint>

#include "proto/record.h"
#include "tracer/stack/stack_bounds.h"

namespace gpuprof::tracer {

// Processor time between two samples.
inline constexpr uint64_t kNativePeriodNs = 10'000'000;

struct NativeSample {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t pcs[proto::kMaxStackFrames];
  uint32_t frames;
};

class NativeEvents {
 public:
  NativeEvents() = default;
  ~NativeEvents() { Close(); }
  NativeEvents(const NativeEvents&) = delete;
  NativeEvents& operator=(const NativeEvents&) = delete;

  // Begins to sample a thread of this process. 0, or the errno.
  int Open(int32_t tid);
  void Close();
  bool is_open() const { return descriptor_ >= 0; }

  // Takes the next sample. False: there is none now.
  bool Next(NativeSample* sample);
  // Samples that the kernel had no room for.
  uint64_t lost() const { return lost_; }

 private:
  void Copy(uint64_t from, void* to, uint64_t bytes) const;
  bool Parse(uint64_t from, uint64_t bytes, NativeSample* sample);

  int descriptor_ = -1;
  uint8_t* ring_ = nullptr;
  uint64_t lost_ = 0;
};

}  // namespace gpuprof::tracer
