// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The phases of a run, in the program's own terms: for the pass `overview`. One
// thread.

#pragma once

#include <cstddef>

#include "analysis/passes/context.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

// Fills the phases of the run, and its length. They are those of process `main` while that is
// recorded. Every nanosecond of the run is in one phase.
void FillWallTime(PassContext& context, size_t main, results::Overview* out);

}  // namespace gpuprof::analysis
