// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See launched_time.h.

#include "analysis/derived/launched_time.h"

#include <algorithm>
#include <optional>

#include "analysis/derived/device_work.h"

namespace gpuprof::analysis {

// Calls are on CUPTI's clock, ranges on ours. The middle of a call decides, because the distance
// between the two clocks does not move the middle across an edge.
LaunchedTime::LaunchedTime(const Process& process, const CallIndex& calls)
    : by_track_(process.tracks.size()) {
  ForEachDeviceWork(process, [&](const Track&, const DeviceWork& work) {
    const std::optional<Call> call = calls.Find(work.correlation);
    if (!call) return;
    has_work_ = true;
    by_track_[call->track].push_back(
        {call->start_ns + (call->end_ns - call->start_ns) / 2, work.span.length() * work.weight});
  });
  for (std::vector<Launched>& launched : by_track_) {
    std::stable_sort(launched.begin(), launched.end(),
                     [](const Launched& a, const Launched& b) { return a.time_ns < b.time_ns; });
    int64_t sum = 0;
    for (Launched& each : launched) each.sum_ns = sum += each.sum_ns;
  }
}

int64_t LaunchedTime::Within(size_t track, std::span<const Interval> disjoint) const {
  const std::vector<Launched>& launched = by_track_[track];
  const auto before = [&](int64_t time) {
    const auto at =
        std::lower_bound(launched.begin(), launched.end(), time,
                         [](const Launched& each, int64_t t) { return each.time_ns < t; });
    return at == launched.begin() ? 0 : (at - 1)->sum_ns;
  };
  int64_t sum = 0;
  for (const Interval& span : disjoint) sum += before(span.end) - before(span.start);
  return sum;
}

}  // namespace gpuprof::analysis
