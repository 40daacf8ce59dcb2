// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls of Python functions and pauses of the garbage collector, as rows of results. One thread.

#pragma once

#include "analysis/passes/context.h"

namespace gpuprof::results {
class Python;
}  // namespace gpuprof::results

namespace gpuprof::analysis {

// Fills the calls and pauses of the selected processes, and their sums.
void FillPythonCalls(PassContext& context, results::Python* out);

}  // namespace gpuprof::analysis
