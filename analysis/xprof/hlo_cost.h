// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the instructions of a compiled program cost, as XLA's cost analysis for GPUs counts.
// Pure functions, any thread.

#pragma once

#include <vector>

#include "analysis/xprof/hlo_module.h"
#include "analysis/xprof/hlo_programs.h"

namespace gpuprof::analysis::xprof {

// Returns the costs of HloModule::instructions, in their order.
std::vector<HloCost> CostsOf(const HloModule& module);

}  // namespace gpuprof::analysis::xprof
