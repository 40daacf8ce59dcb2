// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Changes of the environment that may do what findings advise, in one table. `gpuprof try` measures
// them. A finding has a remedy only where the program's framework reads the variable. A variable
// that the recorded program had set is left alone. Pure; one thread.

#pragma once

#include "analysis/advice/rules/rules.h"

namespace gpuprof::analysis {

// Adds the remedies of a finding.
void AddRemedies(const AdviceFacts& facts, Finding* finding);

// Adds the remedy that sets `name` to `value`, or removes it where `value` is empty. `what` is the
// code of what that does.
void AddRemedy(std::string_view name, std::string_view value, const char* what, Finding* finding);

}  // namespace gpuprof::analysis
