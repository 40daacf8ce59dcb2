// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The plan of `gpuprof try`, and what its runs say. See analysis.h.

#include "proto/results/trials.pb.h"

#include <map>
#include <memory>
#include <string>

#include "analysis/advice/trial_change.h"
#include "analysis/analysis.h"
#include "proto/results/advice.pb.h"

namespace gpuprof::analysis {
namespace {

// What a remedy sets, to find two that are the same.
std::string KeyOf(const results::Remedy& remedy) {
  std::string key;
  for (const results::EnvironmentVariable& variable : remedy.variables())
    key += variable.name() + "=" + variable.value() + "\n";
  return key;
}

}  // namespace

std::unique_ptr<google::protobuf::Message> PlanTrials(const google::protobuf::Message& advice) {
  const auto& from = static_cast<const results::Advice&>(advice);
  auto trials = std::make_unique<results::Trials>();
  *trials->mutable_meta() = from.meta();
  std::map<std::string, std::string> planned;  // the finding that a change is tried for
  const auto leave_out = [&](const results::Finding& finding, const std::string& reason) {
    results::UntriedFinding* untried = trials->add_not_tried();
    untried->set_id(finding.id());
    untried->set_name(finding.name());
    untried->set_reason(reason);
  };
  for (const results::Finding& finding : from.findings()) {
    if (finding.remedies().empty())
      leave_out(finding, "no variable of the environment can do this");
    for (const results::Remedy& remedy : finding.remedies()) {
      const auto [same, is_new] = planned.try_emplace(KeyOf(remedy), finding.id());
      if (!is_new) {
        leave_out(finding, "the same change is tried for " + same->second);
        continue;
      }
      results::Trial* trial = trials->add_trials();
      trial->set_id(finding.id());
      trial->set_name(finding.name());
      *trial->mutable_remedy() = remedy;
      if (finding.has_gain()) *trial->mutable_predicted() = finding.gain();
    }
  }
  return trials;
}

Error MeasureRun(const Trace& trace, const PassOptions& options, google::protobuf::Message* run) {
  std::unique_ptr<google::protobuf::Message> result;
  const Error error = Run("overview", trace, options, &result);
  if (error) return error;
  const auto& overview = static_cast<const results::Overview&>(*result);
  auto* const out = static_cast<results::TrialRun*>(run);
  out->set_step_count(overview.step().count());
  out->set_step_mean_ns(overview.step().mean_ns());
  return {};
}

void CompareRuns(google::protobuf::Message* trials) {
  auto* const all = static_cast<results::Trials*>(trials);
  for (results::Trial& trial : *all->mutable_trials()) {
    if (auto change = ChangeOf(all->unchanged(), trial.runs())) {
      *trial.mutable_change() = *change;
    }
  }
}

}  // namespace gpuprof::analysis
