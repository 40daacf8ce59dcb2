// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// From CUPTI's clock, which the times of PM samples are on, to CLOCK_MONOTONIC: by the two newest
// pairs of readings. Between them the clocks drift evenly, or one was set: then a time is placed by
// the first of the two offsets by which it could have been. One thread; times in nanoseconds.

#pragma once

#include <cstdint>

namespace gpuprof::launcher {

class PmClock {
 public:
  // One moment on both clocks. The first call, and once around every batch of samples.
  void Add(uint64_t cupti_ns, uint64_t monotonic_ns);

  // False: by neither reading it lies between `earliest` and `latest`.
  bool ToMonotonic(uint64_t cupti_ns, uint64_t earliest, uint64_t latest,
                   uint64_t* monotonic_ns) const;

 private:
  struct Pair {
    uint64_t cupti_ns = 0;
    uint64_t monotonic_ns = 0;
    int64_t offset() const { return static_cast<int64_t>(monotonic_ns - cupti_ns); }
  };
  int64_t Drifted(uint64_t cupti_ns) const;

  Pair before_, now_;
  int pairs_ = 0;
};

// The tightest of a few tries. `read`: CUPTI's clock, or 0. False: it cannot be had.
using ReadCuptiClock = uint64_t (*)(const void* context);
bool ReadPmClock(ReadCuptiClock read, const void* context, PmClock* clock);

}  // namespace gpuprof::launcher
