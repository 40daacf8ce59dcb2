// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes samples into the ring of the sampler's thread. Their ends never go back. The sampler's
// thread alone.

#pragma once

#include <cstdint>

#include "tracer/tracer.h"

namespace gpuprof::tracer {

struct Sample {
  uint64_t start = 0, end = 0;  // ticks
  int32_t tid = 0;
  uint16_t bits = 0;  // proto::SampleState
  int32_t holder = 0;
};

// What rings call when they are filling up. The sampler waits for no room.
struct WakeForSamples {
  const Host* host;
  void operator()() const noexcept { host->wake_drain(); }
  bool Grow(proto::RingHeader* ring) const noexcept { return host->grow_ring(ring); }
  bool AwaitRoom(const proto::RingHeader*, uint64_t) const noexcept { return false; }
};

class SampleRing {
 public:
  explicit SampleRing(const Host* host) : host_(host) {}

  // Gets the thread's ring. False: it can have none now.
  bool Open();
  proto::RingHeader* ring() const { return ring_; }
  // Writes a sample with its stack, innermost frame first.
  void Write(const Sample& sample, const uint64_t* pcs, uint32_t frames);

 private:
  const Host* host_;
  proto::RingHeader* ring_ = nullptr;
  uint64_t last_ = 0;  // end of the last sample
};

}  // namespace gpuprof::tracer
