// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of results about the steps of a thread. For passes; pure.

#pragma once

#include "analysis/model/trace.h"
#include "analysis/steps/step_summary.h"
#include "proto/results/meta.pb.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

results::Step StepRow(const Process& process, const StepAnalysis& steps, const Step& step);
results::StepSeries SeriesRow(const Process& process, const StepAnalysis& steps);

}  // namespace gpuprof::analysis
