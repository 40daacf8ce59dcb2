// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What samples of a thread's accumulated processor time say about an interval, and when the thread
// lived. For passes; pure.

#pragma once

#include <cstdint>
#include <optional>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

struct ThreadLife {
  Interval span;
  bool start_seen = false;
  bool exit_seen = false;
  int64_t exit_ns = 0;
  uint64_t cpu_at_exit_ns = 0;  // 0: not known
  bool empty = true;            // no sign of it
  std::optional<int32_t> creator;
  uint64_t routine = 0;
};
ThreadLife LifeOf(const Track& track);

// Processor time, measured over covered_ns of the interval asked for. Also time without a
// processor, measured over runqueue_covered_ns.
struct ThreadUsage {
  int64_t covered_ns = 0;
  int64_t cpu_ns = 0;
  int64_t runqueue_covered_ns = 0;
  int64_t runqueue_wait_ns = 0;
};
// Computes the use within an interval. Use between samples is taken to be even. Empty if no two
// known points enclose a part of the interval.
std::optional<ThreadUsage> UsageWithin(const Track& track, const ThreadLife& life, Interval window);

// Processor time of a process's own threads within a window, as parts of the covered time: above 1
// when more than one processor was busy.
struct ProcessUse {
  double busy = 0;
  double runqueue = 0;
};
std::optional<ProcessUse> UseOf(const Process& process, Interval window);

uint64_t EventsOf(const Track& track);

}  // namespace gpuprof::analysis
