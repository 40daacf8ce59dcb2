// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The phases of a run, in the program's own terms: for the pass `overview`. One
// thread.

#pragma once

#include <cstddef>

#include "analysis/passes/context.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

// Fills the phases of a process's life. Every nanosecond is in one phase.
void FillWallTime(PassContext& context, size_t index, results::Overview* out);

}  // namespace gpuprof::analysis
