// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The critical path of a process: for the passes `critical_path` and `overview`. One thread.

#pragma once

#include <cstddef>

#include "analysis/passes/context.h"
#include "analysis/passes/device/step_graph.h"
#include "proto/results/critical_path.pb.h"

namespace gpuprof::analysis {

struct ProcessPath {
  bool has_graph = false;
  results::CriticalPath path;
};

// Returns the path of a process through its graph. `graph`: null if the caller did not make
// it. Then it is made if the path is not known yet.
const ProcessPath& CriticalPathOf(PassContext& context, size_t index, const StepGraph* graph);

}  // namespace gpuprof::analysis
