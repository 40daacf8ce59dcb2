// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See thread_usage.h.

#include "analysis/passes/thread_usage.h"

#include <algorithm>
#include <vector>

#include "proto/record.h"

namespace gpuprof::analysis {
namespace {

void Cover(int64_t time, ThreadLife* life) {
  if (life->empty) life->span = {time, time};
  life->empty = false;
  life->span.start = std::min(life->span.start, time);
  life->span.end = std::max(life->span.end, time);
}

template <typename Table>
void CoverTimes(const Table& table, ThreadLife* life) {
  if (table.rows() == 0) return;
  Cover(table.time_ns.front(), life);
  Cover(table.time_ns.back(), life);
}

template <typename Table>
void CoverSpans(const Table& table, ThreadLife* life) {
  if (table.rows() == 0) return;
  Cover(table.end_ns.front() - table.duration_ns.front(), life);
  // The longest span ends last, but any may have begun first.
  for (size_t i = 0; i < table.rows(); ++i) {
    life->span.start = std::min(life->span.start, table.end_ns[i] - table.duration_ns[i]);
  }
  Cover(table.end_ns.back(), life);
}

// Value of the accumulated figures at a time between two samples.
ThreadSample Between(const ThreadSample& a, const ThreadSample& b, int64_t time) {
  const auto length = static_cast<double>(b.time_ns - a.time_ns);
  const double part = length > 0 ? static_cast<double>(time - a.time_ns) / length : 1.0;
  auto blend = [&](uint64_t from, uint64_t to) {
    const double rise = to > from ? static_cast<double>(to - from) : 0;
    return from + static_cast<uint64_t>(rise * part);
  };
  return {time, blend(a.cpu_ns, b.cpu_ns), blend(a.runqueue_wait_ns, b.runqueue_wait_ns)};
}

}  // namespace

ThreadLife LifeOf(const Track& track) {
  ThreadLife life;
  CoverTimes(track.heap, &life);
  CoverTimes(track.tensor, &life);
  CoverTimes(track.process_event, &life);
  CoverSpans(track.wait, &life);
  CoverSpans(track.op, &life);
  for (const ThreadSample& sample : track.samples) Cover(sample.time_ns, &life);
  for (size_t i = 0; i < track.thread_event.rows(); ++i) {
    const int64_t time = track.thread_event.time_ns[i];
    Cover(time, &life);
    const auto event = static_cast<proto::ThreadEvent>(track.thread_event.event[i]);
    if (event == proto::ThreadEvent::kStart) {
      life.start_seen = true;
      life.routine = track.thread_event.a[i];
      if (track.thread_event.b[i] != 0)
        life.creator = static_cast<int32_t>(track.thread_event.b[i]);
    } else if (event == proto::ThreadEvent::kExit) {
      life.exit_seen = true;
    }
  }
  return life;
}

std::optional<ThreadUsage> UsageWithin(const Track& track, const ThreadLife& life,
                                       Interval window) {
  std::vector<ThreadSample> points;
  if (life.start_seen) points.push_back({life.span.start, 0, 0});
  points.insert(points.end(), track.samples.begin(), track.samples.end());
  if (points.size() < 2) return std::nullopt;
  const int64_t from = std::max(window.start, points.front().time_ns);
  const int64_t to = std::min(window.end, points.back().time_ns);
  if (to <= from) return std::nullopt;
  auto at = [&](int64_t time) {
    const auto after =
        std::lower_bound(points.begin() + 1, points.end() - 1, time,
                         [](const ThreadSample& s, int64_t t) { return s.time_ns < t; });
    return Between(*(after - 1), *after, time);
  };
  const ThreadSample first = at(from);
  const ThreadSample last = at(to);
  return ThreadUsage{to - from, static_cast<int64_t>(last.cpu_ns - first.cpu_ns),
                     static_cast<int64_t>(last.runqueue_wait_ns - first.runqueue_wait_ns)};
}

uint64_t EventsOf(const Track& track) {
  return track.heap.rows() + track.wait.rows() + track.op.rows() + track.tensor.rows() +
         track.thread_event.rows() + track.process_event.rows();
}

}  // namespace gpuprof::analysis
