// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See main_process.h.

#include "analysis/passes/main_process.h"

#include <cstdint>
#include <limits>
#include <tuple>

#include "analysis/passes/host/thread_usage.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

// Processor time of the process's own threads, as far as it was measured.
int64_t ProcessorTime(const Process& process) {
  int64_t sum = 0;
  for (const Track& track : process.tracks) {
    if (track.tool || track.is_stream) continue;
    if (const auto usage = UsageWithin(track, LifeOf(track), {-kFar, kFar})) sum += usage->cpu_ns;
  }
  return sum;
}

}  // namespace

std::optional<size_t> MainProcess(PassContext& context) {
  if (const std::optional<size_t> leading = context.Leading()) return leading;
  std::optional<size_t> main;
  std::tuple<int64_t, int64_t> most;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const std::tuple<int64_t, int64_t> work = {ProcessorTime(process),
                                               process.LifeEnd() - process.LifeStart()};
    if (main && work <= most) continue;
    main = index;
    most = work;
  }
  return main;
}

}  // namespace gpuprof::analysis
