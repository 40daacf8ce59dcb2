// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rule of docs/extending.md: tells of runs with many processes. See rules.h.

#include "analysis/advice/rules/rule_parts.h"

namespace gpuprof::analysis {

std::optional<Finding> ManyProcesses(const AdviceFacts& facts) {
  const auto count = static_cast<double>(facts.host.process_count);
  if (count < facts.limits("TH-002.min_processes")) return std::nullopt;
  Finding finding = Make("TH-002.name", results::LEVEL_HIGH, "TH-002.reason");
  finding.Evidence("TH-002.count", {say::Count(facts.host.process_count)});
  AddFix(facts, "TH-002.fewer", &finding);
  return finding;
}

}  // namespace gpuprof::analysis
