// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What recording cost the program: in its own threads, and alongside them. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/model/trace.h"

namespace gpuprof::results {
class OverviewCost;
}

namespace gpuprof::analysis {

class PassContext;

// What the hooks of heap and mapping events took from a process's threads, stacks included:
// estimated from those that were timed. low_ns to high_ns: 95 % confidence.
struct HookCost {
  uint64_t count = 0;
  int64_t ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
};
HookCost HookCostOf(const Process& process);
// Returns the processor time (ns) of the program's threads in which the recorder began and ended.
int64_t BeginEndOf(const Process& process);
// Returns the time (ns) that the process's threads waited for room in their rings, all together.
int64_t RoomWaitOf(const Process& process);
// Returns how much of the wait each of the program's threads had on average (ns). Threads wait at
// the same time, so this is how long the program stood still.
int64_t RoomWaitOfAThread(const Process& process);
// The recorder's fixed costs are not shown as a share of a shorter capture (ns).
inline constexpr int64_t kLeastForShares = 10'000'000;
// Limits an estimate of the time in the program's threads to their processor time. The processor
// time excludes gpuprof's own threads. Some of the timed code may have been waiting.
int64_t WithinProcessorTime(const Process& process, int64_t estimate_ns);
// Returns whether the process's recorder noted its own cost. Otherwise zeros in its health mean
// nothing.
bool IsCostKnown(const Process& process);

// Sums what of the selected processes' lives was captured, and what began and ended the captures.
void FillCaptured(PassContext& context, results::OverviewCost* cost);

// Sums the costs of the selected processes. `main` is the stepping or first process.
void FillRecorderCost(PassContext& context, size_t main, results::OverviewCost* cost);

}  // namespace gpuprof::analysis
