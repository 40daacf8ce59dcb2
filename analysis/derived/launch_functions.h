// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which functions of CUDA launch work that has a record of its own. Copies may be done when their
// call returns, and are none of them. Pure, any thread.

#pragma once

#include <cstdint>
#include <unordered_map>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns the functions (ApiTable::function) of the process that launch. True: the function
// launches a CUDA graph.
std::unordered_map<uint32_t, bool> LaunchFunctions(const Process& process);

}  // namespace gpuprof::analysis
