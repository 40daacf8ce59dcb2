// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How often the drain thread empties the rings. The drain thread alone.

#pragma once

#include <cstdint>

#include "tracer/base/futex.h"
#include "tracer/drain.h"

namespace gpuprof::tracer {

class Pace {
 public:
  explicit Pace(const Settings& settings)
      : takes_coarse_clock_(settings.heap_mode == proto::HeapMode::kExact &&
                            settings.exact_heap_times == 0) {}

  void Start(uint64_t records) { records_ = records; }

  // Returns for how many nanoseconds to wait after a pass that found a ring grown by `growth` of
  // it.
  uint64_t After(Drain* drain, double growth) {
    const uint64_t now = Monotonic();
    const uint64_t grown = drain->records() - records_;
    // A few that happen to come close together are not many.
    const bool many = grown >= kManyRecords && grown * kMillisecond >= (now - time_) * kManyRecords;
    time_ = now;
    records_ += grown;
    few_ = many ? 0 : few_ + 1;
    if (many) is_coarse_ = takes_coarse_clock_;
    if (few_ >= kFewPasses) is_coarse_ = false;
    drain->KeepCoarseClock(is_coarse_);
    if (growth > 0.25) return kBusyPause;
    return is_coarse_ ? kCoarseClockPause : kPause;
  }

 private:
  // A ring that is filling up wakes the drain; it comes by itself so that the work is spread and
  // little is left for the end. Each time costs the program's threads a processor for a moment, 20
  // us measured: seldom, then. But of many events of the heap each would pay to read the clock, 10
  // ns: they take the coarse one, which each pass refreshes.
  static constexpr uint64_t kPause = 100 * kMillisecond;
  static constexpr uint64_t kCoarseClockPause = 1 * kMillisecond;
  static constexpr uint64_t kBusyPause = kMillisecond / 4;
  static constexpr uint64_t kManyRecords = 500;  // in a millisecond
  static constexpr uint32_t kFewPasses = 20;     // in a row, then the coarse clock is given up

  uint64_t time_ = Monotonic();
  uint64_t records_ = 0;
  uint32_t few_ = 0;
  bool takes_coarse_clock_;
  bool is_coarse_ = false;
};

}  // namespace gpuprof::tracer
