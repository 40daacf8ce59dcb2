// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which function of the program launched work, or made a node of a graph. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// Returns the function that a stack of Process::stacks leads to: of Python, if the stack has one,
// else the innermost that is not CUDA's. Empty: no frame has a name.
std::string LaunchSite(PassContext& context, size_t index, uint32_t stack);

}  // namespace gpuprof::analysis
