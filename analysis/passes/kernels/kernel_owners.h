// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels by the framework's operation that launched them: `stats kernels --by op`. A row is a
// kernel on a device, launched by one operation. Nodes of CUDA graphs belong to the operation in
// which they were captured. Called by the pass `kernels`; one thread.

#pragma once

#include <cstdint>
#include <unordered_set>

#include "analysis/passes/context.h"
#include "proto/results/kernels.pb.h"

namespace gpuprof::analysis {

// Adds the rows of a process. `only`: correlations of the launches that count; null: all do. Times,
// shares and orders of all rows are not set here. `launched_by` has the number of a stack, until
// NameLaunchSites() is called: names depend on the question.
void AddKernelOwners(PassContext& context, size_t index, const std::unordered_set<uint32_t>* only,
                     results::Kernels* out);
// Replaces the stacks of rows by the functions of the program that launched.
void NameLaunchSites(PassContext& context, results::Kernels* out);

}  // namespace gpuprof::analysis
