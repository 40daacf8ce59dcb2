// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_gaps.h.

#include "analysis/passes/device_gaps.h"

#include <algorithm>
#include <utility>

namespace gpuprof::analysis {
namespace {

template <typename Table>
Interval SpanOf(const Table& table, size_t row) {
  return {table.end_ns[row] - table.duration_ns[row], table.end_ns[row]};
}

template <typename Table>
std::vector<Interval> BusyOfTable(const Table& table) {
  std::vector<Interval> spans;
  spans.reserve(table.rows());
  for (size_t i = 0; i < table.rows(); ++i) spans.push_back(SpanOf(table, i));
  return UnionOf(std::move(spans));
}

template <typename Table>
void FindLaunchesOfTable(const Table& table, const Launches& launches, std::vector<Gap>* gaps) {
  for (size_t i = 0; i < table.rows(); ++i) {
    const int64_t start = SpanOf(table, i).start;
    const auto gap = std::lower_bound(gaps->begin(), gaps->end(), start,
                                      [](const Gap& g, int64_t time) { return g.span.end < time; });
    if (gap == gaps->end() || gap->span.end != start) continue;
    const Launch* launch = launches.Find(table.correlation[i]);
    if (launch == nullptr || (gap->has_launch && gap->launch.start <= launch->start_ns)) continue;
    gap->has_launch = true;
    gap->launch = {launch->start_ns, launch->end_ns};
  }
}

}  // namespace

bool HasWork(const Track& track) {
  return track.kernel.rows() + track.memcpy.rows() + track.memset.rows() +
             track.graph_launch.rows() !=
         0;
}

std::vector<Interval> BusyOf(const Track& track) {
  std::vector<std::vector<Interval>> tables;
  tables.push_back(BusyOfTable(track.kernel));
  tables.push_back(BusyOfTable(track.memcpy));
  tables.push_back(BusyOfTable(track.memset));
  tables.push_back(BusyOfTable(track.graph_launch));
  return UnionOfAll(std::move(tables));
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

void FindLaunches(const Track& track, const Launches& launches, std::vector<Gap>* gaps) {
  FindLaunchesOfTable(track.kernel, launches, gaps);
  FindLaunchesOfTable(track.memcpy, launches, gaps);
  FindLaunchesOfTable(track.memset, launches, gaps);
  FindLaunchesOfTable(track.graph_launch, launches, gaps);
}

void IdleTimes::Add(const Gap& gap, const std::vector<Interval>& unseen) {
  int64_t seen_from = gap.span.start;
  auto at = std::upper_bound(unseen.begin(), unseen.end(), gap.span.start,
                             [](int64_t time, const Interval& span) { return time < span.end; });
  for (; at != unseen.end() && at->start < gap.span.end; ++at) {
    const Interval hidden = {std::max(at->start, gap.span.start), std::min(at->end, gap.span.end)};
    AddSeen(gap, {seen_from, hidden.start});
    unknown_ns += hidden.length();
    unseen_ns += hidden.length();
    seen_from = hidden.end;
  }
  AddSeen(gap, {seen_from, gap.span.end});
}

void IdleTimes::AddSeen(const Gap& gap, const Interval& part) {
  if (part.length() <= 0) return;
  if (!gap.has_launch) {
    unknown_ns += part.length();
  } else if (gap.launch.end <= gap.span.start) {
    dependency_ns += part.length();
  } else {
    const int64_t begun = std::clamp(gap.launch.start, part.start, part.end);
    host_ns += begun - part.start;
    launch_ns += part.end - begun;
  }
}

}  // namespace gpuprof::analysis
