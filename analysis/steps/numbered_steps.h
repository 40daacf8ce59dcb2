// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The steps of a process with the numbers that passes show. One thread.

#pragma once

#include <vector>

#include "analysis/base/regular_expression.h"
#include "analysis/model/trace.h"
#include "analysis/steps/op_tree.h"
#include "analysis/steps/step_summary.h"

namespace gpuprof::analysis {

// Returns the steps of each thread that has some, the busiest first. There is always a first, which
// may be without steps. `marker`: op names that begin a step; null: detect. The ops are those of a
// process of the trace.
std::vector<StepAnalysis> NumberedSteps(const Trace& trace, ProcessOps& ops,
                                        const RegularExpression* marker);

}  // namespace gpuprof::analysis
