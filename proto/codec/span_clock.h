// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The clock that the spans of one chunk were read from. Where all times are whole ticks apart, tick
// by tick. Real GPUs count ticks of 32 ns, but CUPTI puts them on the host's line, a few parts in a
// million steeper, and rounds to nanoseconds: no two times are whole ticks apart then, and still
// each is foreseen within one. What is left of a time is its slip, mostly 0.
//
// Used by writer and reader alike; the arithmetic is part of the format (FORMAT.md) and wraps, so
// that hostile values do no harm. One thread; nothing is allocated.

#pragma once

#include <cstdint>

namespace gpuprof::codec {

// How much longer than `tick` a tick is, in 2^-32 ns: less than this, either way.
inline constexpr int64_t kMostTickFraction = int64_t{1} << 26;

// Writers: how far the times of a chunk with slips lie apart at most, in ns. Ticks times fraction
// must not wrap, also for a first guess of the ticks.
inline constexpr uint64_t kFarthestRounded = uint64_t{1} << 39;

struct SpanTick {
  uint64_t tick = 1;
  int64_t fraction = 0;
  bool is_exact = true;  // all times are whole ticks apart: no slips
};

class SpanClock {
 public:
  SpanClock() = default;
  SpanClock(uint64_t base_time, const SpanTick& tick)
      : at_(base_time),
        tick_(tick.tick),
        fraction_(static_cast<uint64_t>(tick.fraction)),
        ticks_per_unit_(static_cast<int64_t>((uint64_t{1} << 32) / tick.tick)) {}

  // The time `ticks` later and `slip` beside the line, which from then on goes through it.
  uint64_t Advance(uint64_t ticks, uint64_t slip) {
    uint64_t rest;
    const uint64_t time = Foresee(ticks, &rest);
    // A slip tells on which side of a rounding boundary the line lay: it is moved there.
    if (slip != 0) rest = static_cast<int64_t>(slip) > 0 ? 0 : 0xffffffffu;
    rest_ = rest;
    return at_ = time + slip;
  }

  // Advances to `time`, which is less than kFarthestRounded away; the slip lies within the window.
  struct Step {
    uint64_t ticks;
    int64_t slip;
  };
  Step AdvanceTo(uint64_t time) {
    uint64_t ticks = Nearest(static_cast<int64_t>(time - at_));
    uint64_t rest;
    int64_t slip = static_cast<int64_t>(time - Foresee(ticks, &rest));
    for (int i = 0; (slip < -half() || slip >= half()) && i < kMostTurns; ++i) {
      const uint64_t more = Nearest(slip);
      ticks += more != 0 ? more : slip > 0 ? 1 : ~uint64_t{0};
      slip = static_cast<int64_t>(time - Foresee(ticks, &rest));
    }
    Advance(ticks, static_cast<uint64_t>(slip));
    return {ticks, slip};
  }

  // A start's and an end's slip in one value.
  uint64_t Joined(int64_t start_slip, int64_t end_slip) const {
    return static_cast<uint64_t>(start_slip) * window() + static_cast<uint64_t>(end_slip);
  }
  void Part(uint64_t joined, uint64_t* start_slip, uint64_t* end_slip) const {
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
    *start_slip = static_cast<uint64_t>(start);
    *end_slip = static_cast<uint64_t>(end);
  }

 private:
  static constexpr int kMostTurns = 64;  // two are enough

  // Times foreseen for one tick more or less lie up to tick + 1 apart.
  uint64_t window() const { return tick_ + 2; }
  int64_t half() const { return static_cast<int64_t>(window() / 2); }

  uint64_t Foresee(uint64_t ticks, uint64_t* rest) const {
    const uint64_t fine = rest_ + ticks * fraction_;
    *rest = fine & 0xffffffffu;
    return at_ + ticks * tick_ + static_cast<uint64_t>(static_cast<int64_t>(fine) >> 32);
  }

  // Any number of ticks will do whose slip is within the window.
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
