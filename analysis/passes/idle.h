// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The idle time of a process's devices: for the passes `idle` and `overview`. One thread.

#pragma once

#include <cstddef>

#include "analysis/passes/context.h"
#include "proto/results/idle.pb.h"

namespace gpuprof::analysis {

// Adds the devices and gaps of one process. The meta is not filled.
void ComputeIdle(PassContext& context, size_t index, results::Idle* out);

}  // namespace gpuprof::analysis
