// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Time of threads and devices by the part of the program: `stats ops --by module`. Called by the
// pass `ops`; one thread.

#pragma once

#include "analysis/passes/context.h"
#include "proto/results/ops.pb.h"

namespace gpuprof::analysis {

// Computes a row for each part (derived/module_paths.h), and its sums. Times of a row include those
// of the parts in it; self times do not. With `instances`, modules of one type have a row each.
void ComputeOpModules(PassContext& context, bool instances, results::Ops* out);

}  // namespace gpuprof::analysis
