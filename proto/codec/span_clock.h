// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The clock that the spans of one chunk were read from. If all times are whole ticks apart, the
// clock counts ticks exactly. Real GPUs count ticks of 32 ns, but CUPTI maps them onto the host's
// clock, whose rate differs by a few parts in a million, and rounds to nanoseconds. No two times
// are whole ticks apart then, and still each is predicted within one nanosecond. The difference
// between a time and its prediction is its rounding error, mostly 0.
//
// The writer and the reader use this class; the arithmetic is part of the format (FORMAT.md). It
// wraps, so hostile values do no harm. One thread; nothing is allocated.

#pragma once

#include <cstdint>

namespace gpuprof::codec {

// How much longer than `tick` a tick is, in 2^-32 ns: less than this, either way.
inline constexpr int64_t kMostTickFraction = int64_t{1} << 26;

// Writers: the greatest distance in ns between two times of a chunk with rounding errors. Ticks
// times fraction must not wrap, nor must a first guess of the ticks.
inline constexpr uint64_t kFarthestRounded = uint64_t{1} << 39;

struct SpanTick {
  uint64_t tick = 1;
  int64_t fraction = 0;
  bool is_exact = true;  // all times are whole ticks apart: no rounding errors
};

class SpanClock {
 public:
  SpanClock() = default;
  SpanClock(uint64_t base_time, const SpanTick& tick)
      : at_(base_time),
        tick_(tick.tick),
        fraction_(static_cast<uint64_t>(tick.fraction)),
        ticks_per_unit_(static_cast<int64_t>((uint64_t{1} << 32) / tick.tick)) {}

  // Returns the time `ticks` later plus `error`. The clock goes on from that time.
  uint64_t Advance(uint64_t ticks, uint64_t error) {
    uint64_t rest;
    const uint64_t time = Predict(ticks, &rest);
    // An error tells on which side of a rounding boundary the exact time lay: the rest moves there.
    if (error != 0) rest = static_cast<int64_t>(error) > 0 ? 0 : 0xffffffffu;
    rest_ = rest;
    return at_ = time + error;
  }

  // Advances to `time`, which is less than kFarthestRounded away; the error lies within the window.
  struct Step {
    uint64_t ticks;
    int64_t error;
  };
  Step AdvanceTo(uint64_t time) {
    uint64_t ticks = Nearest(static_cast<int64_t>(time - at_));
    uint64_t rest;
    int64_t error = static_cast<int64_t>(time - Predict(ticks, &rest));
    for (int i = 0; (error < -half() || error >= half()) && i < kMostTurns; ++i) {
      const uint64_t more = Nearest(error);
      ticks += more != 0 ? more : error > 0 ? 1 : ~uint64_t{0};
      error = static_cast<int64_t>(time - Predict(ticks, &rest));
    }
    Advance(ticks, static_cast<uint64_t>(error));
    return {ticks, error};
  }

  // Puts the rounding errors of a start and an end into one value.
  uint64_t Joined(int64_t start_error, int64_t end_error) const {
    return static_cast<uint64_t>(start_error) * window() + static_cast<uint64_t>(end_error);
  }
  // Undoes Joined.
  void Split(uint64_t joined, uint64_t* start_error, uint64_t* end_error) const {
    const int64_t value = static_cast<int64_t>(joined);
    int64_t end = value;
    int64_t start = 0;
    if (value < -half() || value >= half()) {
      const int64_t wide = static_cast<int64_t>(window());
      end = value % wide;
      if (end < -half()) end += wide;
      if (end >= wide - half()) end -= wide;
      start = static_cast<int64_t>(joined - static_cast<uint64_t>(end)) / wide;
    }
    *start_error = static_cast<uint64_t>(start);
    *end_error = static_cast<uint64_t>(end);
  }

 private:
  static constexpr int kMostTurns = 64;  // two are enough

  // The times predicted for n and for n + 1 ticks lie up to tick + 1 apart.
  uint64_t window() const { return tick_ + 2; }
  int64_t half() const { return static_cast<int64_t>(window() / 2); }

  uint64_t Predict(uint64_t ticks, uint64_t* rest) const {
    const uint64_t fine = rest_ + ticks * fraction_;
    *rest = fine & 0xffffffffu;
    return at_ + ticks * tick_ + static_cast<uint64_t>(static_cast<int64_t>(fine) >> 32);
  }

  // Returns about how many ticks a difference is. Any number will do whose error is in the window.
  uint64_t Nearest(int64_t difference) const {
    if (difference >= INT32_MIN && difference <= INT32_MAX) {
      return static_cast<uint64_t>((difference * ticks_per_unit_ + (int64_t{1} << 31)) >> 32);
    }
    return static_cast<uint64_t>(difference / static_cast<int64_t>(tick_));
  }

  uint64_t at_ = 0;
  uint64_t tick_ = 1;
  uint64_t fraction_ = 0;
  uint64_t rest_ = uint64_t{1} << 31;  // of a nanosecond, in 2^-32
  int64_t ticks_per_unit_ = int64_t{1} << 32;
};

}  // namespace gpuprof::codec
