// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Words of the table of rules, for text and for findings. Any thread.

#pragma once

#include <string>

#include "proto/results/advice.pb.h"

namespace gpuprof::analysis {

// Returns what a rule needs, in two or three words: "work of a GPU".
const char* NeedWords(results::RuleNeed need);

// Returns a threshold for people: "10.0 %", "10.0 us".
std::string ThresholdWords(results::ThresholdUnit unit, double value);

}  // namespace gpuprof::analysis
