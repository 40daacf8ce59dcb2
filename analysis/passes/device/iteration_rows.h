// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of results about iterations of serving engines. For passes; pure.

#pragma once

#include "analysis/model/trace.h"
#include "analysis/steps/step_summary.h"
#include "proto/iteration_names.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

// Returns the phase of an iteration. NONE: its mark does not tell.
results::IterationPhase PhaseOf(proto::IterationPhase phase);

// Fills what a step says of its requests, if it is an iteration.
void FillIteration(const proto::IterationName& name, results::Step* row);

// Adds a row for each phase of a thread's iterations. `devices`: what devices did in the steps of
// this thread; null: that is not known.
void AddIterationSeries(const Process& process, const StepAnalysis& steps,
                        const results::Steps* devices, results::Steps* out);

}  // namespace gpuprof::analysis
