// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rule of docs/extending.md: tells of runs with many processes. See rules.h.

#include <string>

#include "analysis/advice/rule_parts.h"

namespace gpuprof::analysis {

std::optional<results::Finding> ManyProcesses(const AdviceFacts& facts) {
  const auto count = static_cast<double>(facts.host.process_count);
  if (count < facts.limits("TH-002.min_processes")) return std::nullopt;
  results::Finding finding =
      Make("TH-002", "The run has many processes", results::LEVEL_HIGH, "counted");
  finding.add_evidence(std::to_string(facts.host.process_count) + " processes were recorded.");
  AddFix(facts,
         {"Start fewer processes, or keep them between pieces of work.",
          "Use fewer workers: DataLoader(num_workers=N, persistent_workers=True)."},
         &finding);
  return finding;
}

}  // namespace gpuprof::analysis
