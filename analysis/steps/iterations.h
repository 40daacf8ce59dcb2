// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Iterations of serving engines: steps whose ranges say how many requests and tokens they have.
// proto/iteration_names.h has the forms of the names. Pure.

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

// The iterations of a thread that have one phase, without warm-up.
struct PhaseIterations {
  std::vector<size_t> steps;          // indices in StepAnalysis::steps
  std::vector<int64_t> lengths;       // of the marks
  std::vector<int64_t> gaps;          // to the begin of the next iteration, if one follows
  uint64_t requests = 0, tokens = 0;  // sums of what marks tell
  bool tells_requests = true, tells_tokens = true;  // every mark does
};

// Returns the iterations of a thread by phase; empty: its steps are not iterations.
std::map<proto::IterationPhase, PhaseIterations> IterationsByPhase(const Process& process,
                                                                   const StepAnalysis& steps);

}  // namespace gpuprof::analysis
