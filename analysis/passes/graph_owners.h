// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Nodes of CUDA graphs by the operations that made them: `stats graphs --by owner`. For the pass
// `graphs`; one thread.

#pragma once

#include <cstddef>

#include "analysis/passes/context.h"
#include "proto/results/graphs.pb.h"

namespace gpuprof::analysis {

// Adds a row for each operation, graph and device of a process. Nodes without a known owner have
// rows that say why. Shares and the order of rows are not set here.
void AddGraphOwners(PassContext& context, size_t index, results::Graphs* out);

}  // namespace gpuprof::analysis
