// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The critical path of a process: for the passes `critical_path` and `overview`. One thread.

#pragma once

#include <cstddef>

#include "analysis/passes/context.h"
#include "proto/results/critical_path.pb.h"

namespace gpuprof::analysis {

// Adds the path of a process. Nothing: it had no work on a device.
void ComputeCriticalPath(PassContext& context, size_t index, results::CriticalPaths* out);

}  // namespace gpuprof::analysis
