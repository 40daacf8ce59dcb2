// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See call_steps.h.

#include "analysis/derived/call_steps.h"

#include <algorithm>
#include <limits>

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kUnknown = 0xffffffff;
// Ids of real recordings lie close to each other. A table by id may have so many places a call.
constexpr uint64_t kMostPlacesOfACall = 16;
constexpr uint64_t kFewPlaces = 1u << 20;

}  // namespace

uint32_t StepFinder::PlaceAt(int64_t time_ns) {
  if (!IsAt(next_, time_ns)) {
    if (next_ < steps_.size() && IsAt(next_ + 1, time_ns)) {
      ++next_;
    } else {
      next_ = static_cast<size_t>(
          std::upper_bound(steps_.begin(), steps_.end(), time_ns,
                           [](int64_t time, const Interval& step) { return time < step.start; }) -
          steps_.begin());
    }
  }
  const bool is_in = next_ != 0 && time_ns < steps_[next_ - 1].end;
  return static_cast<uint32_t>(is_in ? 2 * next_ - 1 : 2 * next_);
}

CallSteps::CallSteps(const Process& process, const CallIndex& calls,
                     std::span<const Interval> steps)
    : calls_(&calls), steps_(steps) {
  uint64_t rows = 0;
  uint32_t first = std::numeric_limits<uint32_t>::max(), last = 0;
  for (const Track& track : process.tracks) {
    rows += track.api.rows();
    for (const ColumnSegment& segment : track.api.correlation.segments()) {
      for (size_t row = segment.first; row < segment.end; ++row) {
        const auto id = static_cast<uint32_t>(segment.Load(row));
        if (id == 0) continue;
        first = std::min(first, id);
        last = std::max(last, id);
      }
    }
  }
  const bool has_times = std::all_of(
      process.tracks.begin(), process.tracks.end(),
      [](const Track& track) { return track.api.end_ns.size() == track.api.correlation.size(); });
  is_dense_ = has_times && last >= first &&
              uint64_t{last} - first < std::max(kFewPlaces, rows * kMostPlacesOfACall);
  if (!is_dense_) return;
  first_id_ = first;
  places_.assign(size_t{last} - first + 1, kUnknown);
  Fill(process);
}

// A runtime call and the driver calls in it share an id: the first to begin counts.
void CallSteps::Fill(const Process& process) {
  constexpr size_t kRows = 1024;
  int64_t ends[kRows], durations[kRows];
  uint32_t ids[kRows];
  for (const Track& track : process.tracks) {
    StepFinder finder(steps_);
    for (size_t row = 0; row < track.api.rows(); row += kRows) {
      const size_t count = std::min(kRows, track.api.rows() - row);
      track.api.end_ns.Copy(row, count, ends);
      track.api.duration_ns.Copy(row, count, durations);
      track.api.correlation.Copy(row, count, ids);
      for (size_t i = 0; i < count; ++i) {
        if (ids[i] == 0) continue;
        uint32_t& place = places_[ids[i] - first_id_];
        place = std::min(place, finder.PlaceAt(ends[i] - durations[i]));
      }
    }
  }
}

std::optional<uint32_t> CallSteps::Find(uint32_t correlation) const {
  if (is_dense_) {
    const size_t at = size_t{correlation} - first_id_;
    if (correlation < first_id_ || at >= places_.size() || places_[at] == kUnknown)
      return std::nullopt;
    return StepFinder::StepOf(places_[at]);
  }
  const std::optional<Call> call = calls_->Find(correlation);
  if (!call) return std::nullopt;
  return StepFinder(steps_).StepAt(call->start_ns);
}

}  // namespace gpuprof::analysis
