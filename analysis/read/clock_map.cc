// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See clock_map.h.

#include "analysis/read/clock_map.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gpuprof::analysis {
namespace {

// Clock readings beyond these (18 years from the start of the machine, 109 years from 1970) are
// taken for damage. Clocks may be set, and libraries may fake them.
constexpr int64_t kMostMonotonicNs = int64_t{1} << 59;
constexpr int64_t kMostRealtimeNs = int64_t{3} << 60;
// Lines between snapshots nearer than this would magnify the error of reading the clocks.
constexpr uint64_t kShortestLineNs = 100'000'000;
// Below this distance between first and last snapshot the recorder's own estimate of the rate is
// the better one: it comes from some 20 us of the program's begin, snapshots are read to 0.1 us.
constexpr uint64_t kShortestFitNs = 200'000;
// Faster or slower clocks do not exist: 2 MHz to 20 GHz.
constexpr double kSlowestNsPerTick = 500.0;
constexpr double kFastestNsPerTick = 0.05;

using Snapshots = std::vector<proto::ClockSnapshot>;

bool IsPlausibleRate(double ns_per_tick) {
  return ns_per_tick >= kFastestNsPerTick && ns_per_tick <= kSlowestNsPerTick;
}

bool IsWithin(int64_t value, int64_t most) { return value >= -most && value <= most; }

// Before the start of the machine, or before 1970, it is below 0.
int64_t MonotonicOf(const proto::ClockSnapshot& snapshot) {
  return static_cast<int64_t>(snapshot.monotonic_ns());
}

double NsPerTick(const proto::ClockSnapshot& from, const proto::ClockSnapshot& to) {
  return static_cast<double>(to.monotonic_ns() - from.monotonic_ns()) /
         static_cast<double>(to.ticks() - from.ticks());
}

// Those in order of both clocks, with plausible readings.
Snapshots InOrder(const Snapshots& all) {
  Snapshots kept;
  for (const proto::ClockSnapshot& snapshot : all) {
    if (!IsWithin(MonotonicOf(snapshot), kMostMonotonicNs) ||
        !IsWithin(static_cast<int64_t>(snapshot.realtime_ns()), kMostRealtimeNs))
      continue;
    if (!kept.empty()) {
      const proto::ClockSnapshot& last = kept.back();
      if (snapshot.ticks() <= last.ticks() || MonotonicOf(snapshot) <= MonotonicOf(last)) continue;
      if (!IsPlausibleRate(NsPerTick(last, snapshot))) continue;
    }
    kept.push_back(snapshot);
  }
  return kept;
}

// Leaves out snapshots whose read was interrupted (a wide bracket), and the former of two that are
// close together.
Snapshots Knots(const Snapshots& ordered) {
  std::vector<uint32_t> brackets;
  for (const proto::ClockSnapshot& snapshot : ordered) brackets.push_back(snapshot.bracket_ticks());
  std::nth_element(brackets.begin(), brackets.begin() + static_cast<ptrdiff_t>(brackets.size() / 2),
                   brackets.end());
  const uint64_t widest = uint64_t{4} * brackets[brackets.size() / 2] + 2000;
  Snapshots kept;
  for (size_t i = 0; i < ordered.size(); ++i) {
    if (ordered[i].bracket_ticks() > widest && i != 0 && i + 1 != ordered.size()) continue;
    if (kept.size() > 1 && ordered[i].monotonic_ns() - kept.back().monotonic_ns() < kShortestLineNs)
      kept.pop_back();
    kept.push_back(ordered[i]);
  }
  return kept;
}

int64_t OffsetOf(const proto::ClockSnapshot& snapshot) {
  return static_cast<int64_t>(snapshot.realtime_ns() - snapshot.monotonic_ns());
}

}  // namespace

int64_t ClockMap::RateOf(double ns_per_tick) {
  return static_cast<int64_t>(
      std::llround(ns_per_tick * static_cast<double>(int64_t{1} << kRateBits)));
}

void ClockMap::Build(const Snapshots& snapshots, proto::ClockKind kind, uint64_t ticks_per_second,
                     uint64_t anchor_ticks, uint64_t anchor_realtime_ns) {
  const bool is_monotonic = kind == proto::ClockKind::kMonotonic;
  double told = ticks_per_second == 0 ? 1.0 : 1e9 / static_cast<double>(ticks_per_second);
  if (is_monotonic || !IsPlausibleRate(told)) told = 1.0;
  knots_.clear();
  const Snapshots ordered = InOrder(snapshots);
  if (ordered.empty()) {
    // Times within the process still hold; its place on the axis is the best that is known.
    const bool fits = anchor_realtime_ns <= static_cast<uint64_t>(kTimeLimit);
    knots_.push_back(
        {anchor_ticks, fits ? static_cast<int64_t>(anchor_realtime_ns) : 0, RateOf(told)});
    fit_ = Fit::kGuess;
    return;
  }
  realtime_offset_ = OffsetOf(ordered.front());
  for (const proto::ClockSnapshot& snapshot : ordered) {
    const int64_t step = OffsetOf(snapshot) - realtime_offset_;
    if (std::llabs(step) > std::llabs(realtime_step_ns_)) realtime_step_ns_ = step;
  }
  const Snapshots kept = Knots(ordered);
  const uint64_t covered = kept.back().monotonic_ns() - kept.front().monotonic_ns();
  if (is_monotonic || kept.size() < 2 || (covered < kShortestFitNs && ticks_per_second != 0)) {
    knots_.push_back({kept[0].ticks(), static_cast<int64_t>(kept[0].monotonic_ns()), RateOf(told)});
    fit_ = is_monotonic ? Fit::kSnapshots : Fit::kRate;
    return;
  }
  for (size_t i = 0; i + 1 < kept.size(); ++i) {
    knots_.push_back({kept[i].ticks(), static_cast<int64_t>(kept[i].monotonic_ns()),
                      RateOf(NsPerTick(kept[i], kept[i + 1]))});
  }
  fit_ = Fit::kSnapshots;
  MeasureResidual(kept);
}

void ClockMap::Build(const std::vector<Point>& points) {
  knots_.clear();
  for (const Point& point : points)
    knots_.push_back({point.ticks, point.monotonic_ns, RateOf(point.ns_per_tick)});
  if (knots_.empty()) knots_.push_back({0, 0, RateOf(1.0)});
  fit_ = Fit::kSnapshots;
}

void ClockMap::MeasureResidual(const Snapshots& kept) {
  for (size_t i = 1; i + 1 < kept.size(); ++i) {
    const double line = NsPerTick(kept[i - 1], kept[i + 1]) *
                        static_cast<double>(kept[i].ticks() - kept[i - 1].ticks());
    const double seen = static_cast<double>(kept[i].monotonic_ns() - kept[i - 1].monotonic_ns());
    residual_ns_ = std::max(residual_ns_, std::abs(line - seen));
  }
}

bool ClockMap::FindLine(uint64_t first, uint64_t last, Line* line) const {
  Cursor cursor(*this);
  cursor.Seek(first);
  *line = cursor.line_;
  if (last < first || last - cursor.from_ >= cursor.span_) return false;
  for (const uint64_t ticks : {first, last}) {
    const int64_t distance = static_cast<int64_t>(ticks - line->origin_);
    if (distance > kMostDistance || distance < -kMostDistance) return false;
    const int64_t time = line->Convert(ticks);
    if (time > kTimeLimit || time < -kTimeLimit) return false;
  }
  return true;
}

void ClockMap::Cursor::Seek(uint64_t ticks) {
  const std::vector<Knot>& knots = map_->knots_;
  auto next = std::upper_bound(knots.begin(), knots.end(), ticks,
                               [](uint64_t value, const Knot& knot) { return value < knot.ticks; });
  const bool is_before = next == knots.begin();
  const Knot& knot = is_before ? *next : *(next - 1);
  line_.origin_ = knot.ticks;
  line_.rate_ = knot.rate;
  line_.base_ = knot.monotonic_ns + map_->shift_;
  // The first line reaches back to the beginning of time, the last one to its end.
  from_ = next - knots.begin() <= 1 ? 0 : knot.ticks;
  if (is_before) ++next;
  const uint64_t to = next == knots.end() ? UINT64_MAX : next->ticks;
  span_ = to - from_;
}

}  // namespace gpuprof::analysis
