// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_gaps.h.

#include "analysis/passes/device_gaps.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/derived/device_work.h"

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

std::vector<Gap> GapsIn(const std::vector<Interval>& windows, const std::vector<Interval>& busy) {
  std::vector<Gap> gaps;
  size_t window = 0;
  for (size_t i = 1; i < busy.size(); ++i) {
    const Interval gap = {busy[i - 1].end, busy[i].start};
    while (window < windows.size() && windows[window].end < gap.end) ++window;
    if (window == windows.size()) break;
    if (windows[window].start > gap.start) continue;  // between two captures
    gaps.emplace_back().span = gap;
  }
  return gaps;
}

void FindLaunches(const Track& track, const CallIndex& calls, std::vector<Gap>* gaps) {
  ForEachDeviceWork(track, [&](const DeviceWork& work) {
    const auto gap = std::lower_bound(gaps->begin(), gaps->end(), work.span.start,
                                      [](const Gap& g, int64_t time) { return g.span.end < time; });
    if (gap == gaps->end() || gap->span.end != work.span.start) return;
    const std::optional<Call> launch = calls.Find(work.correlation);
    if (!launch || (gap->has_launch && gap->launch.start <= launch->start_ns)) return;
    gap->has_launch = true;
    gap->launch = {launch->start_ns, launch->end_ns};
  });
}

void IdleTimes::Add(const Gap& gap, const std::vector<Interval>& unseen,
                    const std::vector<Interval>& host_functions) {
  int64_t seen_from = gap.span.start;
  auto at = std::upper_bound(unseen.begin(), unseen.end(), gap.span.start,
                             [](int64_t time, const Interval& span) { return time < span.end; });
  for (; at != unseen.end() && at->start < gap.span.end; ++at) {
    const Interval hidden = {std::max(at->start, gap.span.start), std::min(at->end, gap.span.end)};
    AddSeen(gap, {seen_from, hidden.start}, host_functions);
    unknown_ns += hidden.length();
    unseen_ns += hidden.length();
    seen_from = hidden.end;
  }
  AddSeen(gap, {seen_from, gap.span.end}, host_functions);
}

void IdleTimes::AddSeen(const Gap& gap, const Interval& part,
                        const std::vector<Interval>& host_functions) {
  if (part.length() <= 0) return;
  if (!gap.has_launch) {
    unknown_ns += part.length();
  } else if (gap.launch.end <= gap.span.start) {
    dependency_ns += part.length();
    host_function_ns += CoveredLength(host_functions, part);
  } else {
    const int64_t begun = std::clamp(gap.launch.start, part.start, part.end);
    host_ns += begun - part.start;
    launch_ns += part.end - begun;
  }
}

}  // namespace gpuprof::analysis
