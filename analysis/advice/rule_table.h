// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rules by their ids: their subject and their needs. docs/device-time.md has the same table.
// Pure, any thread.

#pragma once

#include <span>
#include <string_view>

#include "proto/results/advice.pb.h"

namespace gpuprof::analysis {

struct RuleInfo {
  std::string_view id;
  std::string_view name;  // the mechanism that the rule looks for
  results::RuleNeed needs[3] = {};
};

std::span<const RuleInfo> RuleTable();

// Returns the option that records what a rule needs. "": no option does.
std::string_view NeedFix(results::RuleNeed need);

}  // namespace gpuprof::analysis
