// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Gives rows of the pass `kernels` the lines of the program that torch.compile made them from. One
// thread.

#pragma once

#include "analysis/passes/context.h"
#include "proto/results/kernels.pb.h"

namespace gpuprof::analysis {

// Fills the list of compiled kernels, and what rows have of them if each row is of one kernel. The
// rows have their names and counts.
void FillCompiled(PassContext& context, results::Kernels* kernels);

}  // namespace gpuprof::analysis
