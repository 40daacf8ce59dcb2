// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The places of findings in the timeline. A rule about events leads to the longest event, a rule
// about idle time to the longest gap of its cause. A rule about certain steps leads to one of
// these. All others lead to the typical step, if there are steps. Pure.

#pragma once

#include <string>

#include "analysis/advice/rules/rules.h"

namespace gpuprof::analysis {

// Adds the place of a finding, by the id of its rule. A place that the rule set stays.
void AddPlace(const AdviceFacts& facts, Finding* finding);

// Leads a finding to the longest launch of a kernel, by its full name.
void SetKernelPlace(const AdviceFacts& facts, const std::string& kernel, Finding* finding);

}  // namespace gpuprof::analysis
