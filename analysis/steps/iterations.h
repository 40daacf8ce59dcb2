// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Iterations of serving engines: steps whose ranges say how many requests and tokens they have.
// proto/iteration_names.h has the forms of the names. Pure.
//
// A step that does not tell its requests itself may hold ranges that do: a profiler's own range of
// a step lies around the engine's.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/statistics.h"
#include "analysis/steps/step_summary.h"
#include "proto/iteration_names.h"

namespace gpuprof::analysis {

// Returns what the range of a step says. Not an iteration: the step has no range, or the range says
// nothing.
proto::IterationName IterationOf(const Process& process, const Step& step);

// Returns the same for all steps of a thread, by index, also from ranges within them. What
// several ranges in one step all say alike counts.
std::vector<proto::IterationName> IterationsOf(const Process& process, const StepAnalysis& steps);

// The iterations of a thread that have one phase, without warm-up.
struct PhaseIterations {
  std::vector<size_t> steps;          // indices in StepAnalysis::steps
  std::vector<int64_t> lengths;       // of the marks
  std::vector<int64_t> gaps;          // to the begin of the next iteration, if one follows
  uint64_t requests = 0, tokens = 0;  // sums of what marks tell
  bool tells_requests = true, tells_tokens = true;  // every mark does, and the sum has room
};

// Adds a number that a mark tells to a sum. Returns false if the number is untold, or if the sum
// has no room for it.
bool AddTold(uint64_t number, uint64_t* sum);

// Returns the iterations of a thread by phase; empty: its steps are not iterations.
std::map<proto::IterationPhase, PhaseIterations> IterationsByPhase(const Process& process,
                                                                   const StepAnalysis& steps);

}  // namespace gpuprof::analysis
