// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_gaps.h.

#include "analysis/passes/device/device_gaps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/derived/device_work.h"
#include "analysis/passes/device/unseen_work.h"

namespace gpuprof::analysis {
bool HasWork(const Track& track) {
  const size_t rows =
      track.kernel.rows() + track.memcpy.rows() + track.memset.rows() + track.graph_launch.rows();
  return rows != 0 || !track.work.stretches.empty();
}

std::vector<Interval> BusyOf(const Track& track) {
  std::vector<std::vector<Interval>> kinds(kDeviceWorkKinds);
  ForEachDeviceWork(track, [&](const DeviceWork& work) {
    kinds[static_cast<size_t>(work.kind)].push_back(work.span);
  });
  for (std::vector<Interval>& spans : kinds) spans = UnionOf(std::move(spans));
  return UnionOfAll(std::move(kinds));
}

std::vector<Interval> CapturesOf(const Process& process) {
  std::vector<Interval> captures;
  for (const CaptureWindow& capture : process.captures)
    captures.push_back({capture.start_ns, capture.end_ns});
  return captures;
}

std::vector<Interval> WorkWindows(std::span<const Interval> captures,
                                  const std::vector<Interval>& busy) {
  std::vector<Interval> windows;
  for (const Interval& capture : captures) {
    const auto first =
        std::upper_bound(busy.begin(), busy.end(), capture.start,
                         [](int64_t time, const Interval& span) { return time < span.end; });
    const auto behind =
        std::lower_bound(busy.begin(), busy.end(), capture.end,
                         [](const Interval& span, int64_t time) { return span.start < time; });
    if (first < behind)
      windows.push_back({std::max(first->start, capture.start), (behind - 1)->end});
  }
  return UnionOf(std::move(windows));
}

int64_t BusyWithin(const std::vector<Interval>& windows, const std::vector<Interval>& busy) {
  int64_t sum = 0;
  for (const Interval& window : windows) sum += CoveredLength(busy, window);
  return sum;
}

std::vector<Interval> GapsIn(const std::vector<Interval>& windows,
                             const std::vector<Interval>& busy) {
  std::vector<Interval> all, within;
  for (size_t i = 1; i < busy.size(); ++i) all.push_back({busy[i - 1].end, busy[i].start});
  ForEachGapIn(windows, all, [&](const Interval& gap, size_t) { within.push_back(gap); });
  return within;
}

void IdleCauses::Add(const DeviceTimeline& timeline, const DeviceGap& gap,
                     const std::vector<Interval>& unseen,
                     const std::vector<Interval>& host_functions) {
  const bool waits = gap.Rest() == results::TIME_CATEGORY_DEPENDENCY;
  const int64_t hidden_ns = ForEachSeenPart(gap.span, unseen, [&](Interval part) {
    timeline.AddGap(gap, part, &times);
    unseen_ns += std::max<int64_t>(part.end - std::max(part.start, gap.UnseenFrom()), 0);
    const Interval rest = {std::max(part.start, gap.HostUntil()), part.end};
    if (waits && rest.start < rest.end) host_function_ns += CoveredLength(host_functions, rest);
  });
  times[results::TIME_CATEGORY_UNEXPLAINED] += hidden_ns;
  unseen_ns += hidden_ns;
}

void IdleCauses::Add(const IdleCauses& other) {
  for (size_t i = 0; i < times.size(); ++i) times[i] += other.times[i];
  unseen_ns += other.unseen_ns;
  host_function_ns += other.host_function_ns;
}

int64_t IdleCauses::total_ns() const {
  return std::accumulate(times.begin(), times.end(), int64_t{0});
}

results::TimeCategory IdleCauses::Largest() const {
  return static_cast<results::TimeCategory>(std::max_element(times.begin(), times.end()) -
                                            times.begin());
}

DeviceGaps::DeviceGaps(PassContext& context, size_t index, uint32_t device,
                       const DeviceTimeline& timeline)
    : timeline_(&timeline),
      windows_(WorkWindows(CapturesOf(context.process(index)), timeline.busy())),
      unseen_(&UnseenWork(context, index, device)) {}

IdleCauses DeviceGaps::CausesOf(const DeviceGap& gap) const {
  IdleCauses causes;
  causes.Add(*timeline_, gap, *unseen_);
  return causes;
}

IdleCauses DeviceGaps::Causes(const std::vector<Interval>& host_functions) const {
  IdleCauses causes;
  ForEach(
      [&](const DeviceGap& gap, size_t) { causes.Add(*timeline_, gap, *unseen_, host_functions); });
  return causes;
}

}  // namespace gpuprof::analysis
