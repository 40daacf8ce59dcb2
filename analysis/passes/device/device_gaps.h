// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When a device worked, the gaps between, and why it did not work in the gaps. The causes are those
// of analysis/derived/device_timeline.h, so the passes overview, idle and streams name the same
// ones. Work that may be missing in the recording makes a cause unexplained (unseen_work.h).
// Nanoseconds; one thread.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_timeline.h"
#include "analysis/model/trace.h"
#include "analysis/passes/context.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// Returns whether the track holds work that takes its device's time: kernels, copies, memsets,
// graphs that were recorded as a whole.
bool HasWork(const Track& track);

// Returns the times of all that work, sorted and disjoint.
std::vector<Interval> BusyOf(const Track& track);

// Returns the times in which the process was recorded.
std::vector<Interval> CapturesOf(const Process& process);

// Returns the parts of `captures` from their first work to the end of the last work that began in
// them. `busy` is sorted and disjoint. If a device was already busy, the part begins with the
// capture. The reason: a flight recorder's kept part, or work without a pause, seldom begins with
// the capture.
std::vector<Interval> WorkWindows(std::span<const Interval> captures,
                                  const std::vector<Interval>& busy);

// Returns the length of windows that `busy` covers. Both are sorted and disjoint.
int64_t BusyWithin(const std::vector<Interval>& windows, const std::vector<Interval>& busy);

// Calls visit(gap, place) for each gap within a window, with its place in `gaps`. The time between
// two windows is not a gap. Gaps are intervals, or have a `span`; both lists are sorted.
template <typename Gap, typename Visit>
void ForEachGapIn(const std::vector<Interval>& windows, const std::vector<Gap>& gaps,
                  Visit&& visit) {
  const auto span_of = [](const Gap& gap) {
    if constexpr (requires { gap.span; }) {
      return gap.span;
    } else {
      return gap;
    }
  };
  size_t window = 0;
  for (size_t i = 0; i < gaps.size(); ++i) {
    const Interval span = span_of(gaps[i]);
    while (window < windows.size() && windows[window].end < span.end) ++window;
    if (window == windows.size()) return;
    if (windows[window].start <= span.start) visit(gaps[i], i);
  }
}

// Returns the gaps between busy times within the windows, sorted by time.
std::vector<Interval> GapsIn(const std::vector<Interval>& windows,
                             const std::vector<Interval>& busy);

// Calls visit(part) for each part of `span` that `unseen` does not cover. Returns the length that
// `unseen` covers. It is sorted and disjoint.
template <typename Visit>
int64_t ForEachSeenPart(Interval span, const std::vector<Interval>& unseen, Visit&& visit) {
  int64_t seen_from = span.start, hidden_ns = 0;
  auto at = std::upper_bound(unseen.begin(), unseen.end(), span.start,
                             [](int64_t time, const Interval& each) { return time < each.end; });
  for (; at != unseen.end() && at->start < span.end; ++at) {
    const Interval hidden = {std::max(at->start, span.start), std::min(at->end, span.end)};
    if (seen_from < hidden.start) visit(Interval{seen_from, hidden.start});
    hidden_ns += hidden.length();
    seen_from = hidden.end;
  }
  if (seen_from < span.end) visit(Interval{seen_from, span.end});
  return hidden_ns;
}

// Why a device had no work.
struct IdleCauses {
  DeviceTimes times{};           // by category
  int64_t unseen_ns = 0;         // of the unexplained: there may have been work
  int64_t host_function_ns = 0;  // of the dependency: a stream ran a function on the host

  // Adds a gap of the timeline. `unseen` holds the times that may hold work that is not recorded.
  // In the times of `host_functions`, streams of the device ran functions on the host. Both are
  // sorted and disjoint.
  void Add(const DeviceTimeline& timeline, const DeviceGap& gap,
           const std::vector<Interval>& unseen, const std::vector<Interval>& host_functions = {});
  void Add(const IdleCauses& other);

  int64_t total_ns() const;
  // Returns the category with most time; of equal ones the first. NONE: there is no time.
  results::TimeCategory Largest() const;
};

// The gaps of a device as one process used it. The session and the timeline must outlive it.
class DeviceGaps {
 public:
  DeviceGaps(PassContext& context, size_t index, uint32_t device, const DeviceTimeline& timeline);

  const std::vector<Interval>& windows() const { return windows_; }
  const std::vector<Interval>& unseen() const { return *unseen_; }
  const DeviceTimeline& timeline() const { return *timeline_; }
  int64_t WindowLength() const { return TotalLength(windows_); }
  int64_t BusyLength() const { return BusyWithin(windows_, timeline_->busy()); }

  // Calls visit(gap, place) for each gap, with its place in the timeline.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    ForEachGapIn(windows_, timeline_->gaps(), visit);
  }
  // Divides a gap by its causes, or all gaps.
  IdleCauses CausesOf(const DeviceGap& gap) const;
  IdleCauses Causes(const std::vector<Interval>& host_functions = {}) const;

 private:
  const DeviceTimeline* timeline_;
  std::vector<Interval> windows_;
  const std::vector<Interval>* unseen_;
};

}  // namespace gpuprof::analysis
