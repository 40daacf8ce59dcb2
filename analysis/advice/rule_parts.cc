// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/advice/rule_parts.h"

#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {

using results::Finding;

Finding Make(std::string_view id, std::string_view name, results::Level level,
             std::string_view reason) {
  Finding finding;
  finding.set_id(std::string(id));
  finding.set_name(std::string(name));
  finding.mutable_confidence()->set_level(level);
  finding.mutable_confidence()->set_reason(std::string(reason));
  return finding;
}

results::Severity SeverityOf(const AdviceFacts& facts, double ratio) {
  if (ratio >= facts.limits("all.high")) return results::SEVERITY_HIGH;
  if (ratio >= facts.limits("all.medium")) return results::SEVERITY_MEDIUM;
  return ratio >= facts.limits("all.min_gain") ? results::SEVERITY_LOW : results::SEVERITY_INFO;
}

void SetRecoverable(const AdviceFacts& facts, int64_t ns, Finding* finding) {
  const double ratio = Ratio(ns, facts.overview->steps().mean_ns());
  finding->set_recoverable_per_step_ns(ns);
  finding->set_recoverable_ratio(ratio);
  finding->set_severity(SeverityOf(facts, ratio));
}

bool HasSteps(const AdviceFacts& facts) {
  return facts.overview->has_steps() && facts.overview->steps().count() >= 3;
}

std::string PartOfStep(const AdviceFacts& facts, int64_t ns) {
  const int64_t step = facts.overview->steps().mean_ns();
  return FormatDuration(ns) + " of the mean step of " + FormatDuration(step) + " (" +
         FormatPercent(Ratio(ns, step)) + ")";
}

const results::StepCategory* FindCategory(const AdviceFacts& facts, std::string_view name) {
  for (const results::StepCategory& category : facts.overview->steps().categories()) {
    if (category.name() == name) return &category;
  }
  return nullptr;
}

bool WaitsLongerThan(const AdviceFacts& facts, int64_t ns) {
  const results::StepCategory* blocked = FindCategory(facts, "blocked");
  return blocked != nullptr && blocked->mean_ns() > ns;
}

}  // namespace gpuprof::analysis
