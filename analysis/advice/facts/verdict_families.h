// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The families that a step's time divides into, and the one that bounds the step. One thread.

#pragma once

#include <cstddef>

#include "analysis/passes/context.h"
#include "analysis/passes/device/step_graph.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

// Fills what is known to be missing in the recording of the series' device. Nothing: it is whole.
void FillMissing(PassContext& context, size_t index, const results::DeviceSeries& series,
                 results::Verdict* verdict);

// Fills the families and the bound. `graph`: null if what a step wins was not computed. A recording
// in which so much is missing that another family may be the largest has an unknown bound.
void FillFamilies(const results::DeviceSeries& series, const StepGraph* graph,
                  results::Verdict* verdict);

// Returns whether so much is missing that nothing can be said of idle time.
bool IsIncomplete(const results::Verdict& verdict);

}  // namespace gpuprof::analysis
