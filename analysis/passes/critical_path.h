// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The critical path of a process: for the passes `critical_path` and `overview`. One thread.

#pragma once

#include <cstddef>

#include "analysis/passes/context.h"
#include "analysis/passes/step_graph.h"
#include "proto/results/critical_path.pb.h"

namespace gpuprof::analysis {

// Fills the path of a process through its graph.
void FillCriticalPath(PassContext& context, size_t index, const StepGraph& steps,
                      results::CriticalPath* path);

}  // namespace gpuprof::analysis
