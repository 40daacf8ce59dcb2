// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where in the timeline each finding shows best. A rule about events leads to the longest of them,
// a rule about idle time to the longest gap of its cause, a rule about steps to the step that it
// tells of. All others lead to the typical step, if there are steps. Pure.

#pragma once

#include <string>

#include "analysis/advice/rules.h"

namespace gpuprof::analysis {

// Adds the place of a finding that has none, by the id of its rule.
void AddPlace(const AdviceFacts& facts, results::Finding* finding);

// Leads a finding to the longest launch of a kernel, by its full name.
void SetKernelPlace(const AdviceFacts& facts, const std::string& kernel, results::Finding* finding);

}  // namespace gpuprof::analysis
