// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See thread_usage.h.

#include "analysis/passes/host/thread_usage.h"

#include <algorithm>
#include <vector>

#include "analysis/steps/statistics.h"
#include "proto/record.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

void Cover(int64_t time, ThreadLife* life) {
  if (life->empty) life->span = {time, time};
  life->empty = false;
  life->span.start = std::min(life->span.start, time);
  life->span.end = std::max(life->span.end, time);
}

// Returns whether a thread itself makes the events: they come through its ring. A range, however,
// may have begun on another thread, before this one lived. So may the rows of its payload.
bool IsOwn(const proto::TableSpec& table) {
  return table.feed == proto::Feed::kRing && table.kind != proto::ChunkKind::kRange &&
         table.kind != proto::ChunkKind::kRangePayload;
}

// A thread's first moment is read when it has made its ring: what it ran before, its clock has and
// its events have not. It began at least as long ago as it ran.
void ExtendByProcessorTime(const Track& track, ThreadLife* life) {
  if (!life->start_seen) return;
  const auto ran = [life](int64_t until, uint64_t cpu_ns) {
    constexpr uint64_t kMost = uint64_t{1} << 60;  // files may claim anything
    if (cpu_ns < kMost)
      life->span.start = std::min(life->span.start, until - static_cast<int64_t>(cpu_ns));
  };
  for (const ThreadSample& sample : track.samples) ran(sample.time_ns, sample.cpu_ns);
  if (life->cpu_at_exit_ns > 0) ran(life->exit_ns, life->cpu_at_exit_ns);
}

// An accumulated figure at moments in order.
struct Point {
  int64_t time;
  uint64_t value;
};

struct Rise {
  int64_t covered = 0;
  int64_t value = 0;
};

// By how much the figure rose within the window, as far as points lie around it.
Rise RiseWithin(const std::vector<Point>& points, Interval window) {
  if (points.size() < 2) return {};
  const int64_t from = std::max(window.start, points.front().time);
  const int64_t to = std::min(window.end, points.back().time);
  if (to <= from) return {};
  auto at = [&](int64_t time) {
    const auto after = std::lower_bound(points.begin() + 1, points.end() - 1, time,
                                        [](const Point& p, int64_t t) { return p.time < t; });
    const Point& a = *(after - 1);
    const Point& b = *after;
    const double part =
        Ratio(static_cast<double>(time - a.time), static_cast<double>(b.time - a.time));
    const double rise = b.value > a.value ? static_cast<double>(b.value - a.value) : 0;
    return static_cast<int64_t>(a.value) + static_cast<int64_t>(rise * part);
  };
  return {to - from, at(to) - at(from)};
}

}  // namespace

ThreadLife LifeOf(const Track& track) {
  ThreadLife life;
  for (const proto::TableSpec& table : proto::kTables) {
    const TableExtent* extent = IsOwn(table) ? track.Extent(table.kind) : nullptr;
    if (extent == nullptr) continue;
    Cover(extent->first_ns, &life);
    Cover(extent->last_ns, &life);
  }
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
      life.exit_ns = time;
      life.cpu_at_exit_ns = track.thread_event.a[i];
    }
  }
  ExtendByProcessorTime(track, &life);
  return life;
}

std::optional<ThreadUsage> UsageWithin(const Track& track, const ThreadLife& life,
                                       Interval window) {
  std::vector<Point> cpu, runqueue;
  if (life.start_seen) {
    cpu.push_back({life.span.start, 0});
    runqueue.push_back({life.span.start, 0});
  }
  for (const ThreadSample& sample : track.samples) {
    cpu.push_back({sample.time_ns, sample.cpu_ns});
    runqueue.push_back({sample.time_ns, sample.runqueue_wait_ns});
  }
  // On its way out a thread tells its processor time itself: samples are a second apart.
  if (life.cpu_at_exit_ns > 0 && (cpu.empty() || cpu.back().time < life.exit_ns)) {
    cpu.push_back({life.exit_ns, life.cpu_at_exit_ns});
  }
  const Rise used = RiseWithin(cpu, window);
  if (used.covered == 0) return std::nullopt;
  const Rise waited = RiseWithin(runqueue, window);
  return ThreadUsage{used.covered, used.value, waited.covered, waited.value};
}

std::optional<ProcessUse> UseOf(const Process& process, Interval window) {
  int64_t covered = 0, runqueue_covered = 0;
  int64_t cpu = 0, wait = 0;
  for (const Track& track : process.tracks) {
    if (track.tool) continue;
    const auto usage = UsageWithin(track, LifeOf(track), window);
    if (!usage) continue;
    // Threads come and go: the one that was there longest stands for the process.
    covered = std::max(covered, usage->covered_ns);
    runqueue_covered = std::max(runqueue_covered, usage->runqueue_covered_ns);
    cpu += usage->cpu_ns;
    wait += usage->runqueue_wait_ns;
  }
  if (covered == 0) return std::nullopt;
  return ProcessUse{Ratio(cpu, covered), Ratio(wait, runqueue_covered)};
}

uint64_t EventsOf(const Track& track) {
  uint64_t events = 0;
  for (const proto::TableSpec& table : proto::kTables) {
    if (IsOwn(table)) events += track.Rows(table.kind);
  }
  return events;
}

}  // namespace gpuprof::analysis
