// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Converts one process's ticks to nanoseconds: straight lines between its clock snapshots, by
// CLOCK_MONOTONIC, so that a wall clock that is set meanwhile bends no interval. CLOCK_REALTIME
// only places the process on the common axis, by its distance from CLOCK_MONOTONIC at the first
// snapshot.
//
// Built by the reader on one thread, then const: any number of threads convert at once, each with
// its own Cursor. Takes any values: hostile snapshots and ticks give wrong times within bounds,
// never overflow.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/ticks.h"
#include "proto/trace.pb.h"

namespace gpuprof::analysis {

class ClockMap {
 public:
  // Times never leave +-kTimeLimit, so that differences and small sums of them cannot overflow.
  static constexpr int64_t kTimeLimit = int64_t{1} << 61;

  // How the line was found.
  enum class Fit {
    kSnapshots,  // two or more snapshots
    kRate,       // one snapshot and the recorder's estimate of the rate
    kGuess,      // no snapshot: the caller's anchor
  };

  // `ticks_per_second` 0: unknown. Without a usable snapshot `anchor_ticks` is taken to have
  // happened at `anchor_realtime_ns`.
  void Build(const std::vector<proto::ClockSnapshot>& snapshots, proto::ClockKind kind,
             uint64_t ticks_per_second, uint64_t anchor_ticks, uint64_t anchor_realtime_ns);

  // A line begins at each; ascending. Lines need not meet. None: all times are at the beginning.
  struct Point {
    uint64_t ticks = 0;
    int64_t monotonic_ns = 0;
    double ns_per_tick = 1;
  };
  void Build(const std::vector<Point>& points);

  // CLOCK_REALTIME minus CLOCK_MONOTONIC at the first snapshot.
  int64_t realtime_offset() const { return realtime_offset_; }
  // From here on times are CLOCK_MONOTONIC + shift.
  void SetShift(int64_t shift) { shift_ = shift; }

  Fit fit() const { return fit_; }
  double residual_ns() const { return residual_ns_; }
  int64_t realtime_step_ns() const { return realtime_step_ns_; }

  // One straight line: what most blocks lie on as a whole.
  class Line {
   public:
    int64_t Convert(uint64_t ticks) const {
      const int64_t distance = static_cast<int64_t>(ticks - origin_);
      return base_ + static_cast<int64_t>((static_cast<__int128>(distance) * rate_) >> kRateBits);
    }

   private:
    friend class ClockMap;
    uint64_t origin_ = 0;
    int64_t base_ = 0;
    int64_t rate_ = 0;
  };
  // The line that all ticks in [first, last] are on, for converting them without a look at each;
  // false: they are on several, or far from every snapshot. Gives the same times as a Cursor.
  bool FindLine(uint64_t first, uint64_t last, Line* line) const;

  // Converts mostly ascending ticks: remembers the line it is on.
  class Cursor {
   public:
    explicit Cursor(const ClockMap& map) : map_(&map) { Seek(0); }
    int64_t Convert(uint64_t ticks) {
      if (__builtin_expect(ticks - from_ >= span_, 0)) Seek(ticks);
      const int64_t distance = static_cast<int64_t>(ticks - line_.origin_);
      // What is too far from the nearest snapshot to be computed is put at the limit of what can.
      if (distance > kMostDistance) ticks = line_.origin_ + kMostDistance;
      if (distance < -kMostDistance) ticks = line_.origin_ - kMostDistance;
      const int64_t time = line_.Convert(ticks);
      return time > kTimeLimit ? kTimeLimit : time < -kTimeLimit ? -kTimeLimit : time;
    }

   private:
    friend class ClockMap;
    void Seek(uint64_t ticks);
    const ClockMap* map_;
    uint64_t from_ = 0, span_ = 0;  // ticks in [from_, from_ + span_) are on this line
    Line line_;
  };
  int64_t Convert(uint64_t ticks) const { return Cursor(*this).Convert(ticks); }

 private:
  struct Knot {
    uint64_t ticks;
    int64_t monotonic_ns;
    int64_t rate;  // nanoseconds per tick from here to the next knot, times 2^kRateBits
  };
  static constexpr int kRateBits = 48;
  static constexpr int64_t kMostDistance =
      int64_t{1} << 51;  // ticks; 5 days at 5 GHz from the nearest snapshot

  static int64_t RateOf(double ns_per_tick);
  void MeasureResidual(const std::vector<proto::ClockSnapshot>& kept);

  std::vector<Knot> knots_;  // ascending, at least one
  int64_t shift_ = 0;
  int64_t realtime_offset_ = 0;
  int64_t realtime_step_ns_ = 0;
  double residual_ns_ = 0;
  Fit fit_ = Fit::kGuess;
};

}  // namespace gpuprof::analysis
