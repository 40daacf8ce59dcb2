// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads what a recording has of PyTorch's DataLoader: its calls for the next batch, and where
// epochs begin. Samples and waits of its workers' threads tell what was done with each batch. Pure,
// one thread.

#pragma once

#include <optional>
#include <vector>

#include "analysis/derived/input_pipeline.h"
#include "analysis/model/trace.h"
#include "analysis/steps/op_tree.h"

namespace gpuprof::analysis {

// Reads the loader of the thread that asked most often for a batch. `workers`: processes that this
// one began for its loaders. None: no loader was asked.
std::optional<LoaderRecord> ReadLoader(ProcessOps& ops, const std::vector<const Process*>& workers);

}  // namespace gpuprof::analysis
