// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rules that turn figures into things to try. Each states its evidence, what to try in the
// program's framework, and how much of a step could be won back at most. Without figures a rule
// keeps silent. Called by the overview; pure.

#pragma once

#include <vector>

#include "analysis/advice/facts/advice_facts.h"
#include "analysis/advice/finding.h"

namespace gpuprof::analysis {

// Returns what stands behind times of GPUs that are sums over devices, or of several processes.
Argument OfDevices(const results::OverviewGpu& gpu);

// Greatest gain first; then those without a figure.
std::vector<Finding> Advise(const AdviceFacts& facts);

}  // namespace gpuprof::analysis
