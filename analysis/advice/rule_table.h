// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is known of a rule before it looks: its id, its subject, its needs and its thresholds.
// rule_rows.h has the rows, docs/advice.md the same table. Pure, any thread.

#pragma once

#include <span>
#include <string_view>

#include "proto/results/advice.pb.h"

namespace gpuprof::analysis {

// A figure that decides. Users may set another value: `LA-001.min_share = 0.2`.
struct Threshold {
  std::string_view name = {};  // "min_share"; "": no threshold
  double fallback = 0;         // times in nanoseconds
  results::ThresholdUnit unit = results::THRESHOLD_UNIT_NONE;
  std::string_view meaning = {};
};

struct RuleInfo {
  std::string_view id;
  std::string_view name;  // the mechanism that the rule looks for
  results::RuleNeed needs[3] = {};
  Threshold thresholds[7] = {};
};

std::span<const RuleInfo> RuleTable();

// Returns the option that records what a rule needs. "": no option does.
std::string_view NeedFix(results::RuleNeed need);

}  // namespace gpuprof::analysis
