// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See thresholds.h.

#include "analysis/advice/thresholds.h"

#include "analysis/analysis.h"
#include "analysis/base/enum_word.h"

namespace gpuprof::analysis {

Thresholds::Thresholds(const std::map<std::string, double>& changed) {
  double* value = values_;
  for (const RuleInfo& rule : kRuleRows) {
    for (const Threshold& threshold : rule.thresholds) {
      const auto found =
          changed.empty() ? changed.end()
                          : changed.find(std::string(rule.id) + "." + std::string(threshold.name));
      *value++ = found == changed.end() ? threshold.fallback : found->second;
    }
  }
}

std::vector<ThresholdInfo> RuleThresholds() {
  std::vector<ThresholdInfo> infos;
  for (const RuleInfo& rule : kRuleRows) {
    for (const Threshold& threshold : rule.thresholds) {
      if (threshold.name.empty()) continue;
      infos.push_back(
          {std::string(rule.id) + "." + std::string(threshold.name), WordOf(threshold.unit)});
    }
  }
  return infos;
}

}  // namespace gpuprof::analysis
