// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The plan of `gpuprof try`, and what its runs say. See analysis.h.

#include "proto/results/trials.pb.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/compare/trial_change.h"
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

// Returns whether a finding is about a host whose threads or memory may lie far from each other. A
// program that keeps to one node may then be faster.
bool IsAboutPlaces(std::string_view rule) {
  return rule == "LA-001" || rule == "TH-001" || rule == "CP-001" || rule == "CP-002" ||
         rule == "SY-001" || rule == "IN-002";
}

results::Trial* AddTrial(const results::Finding& finding, results::Trials* trials) {
  results::Trial* trial = trials->add_trials();
  trial->set_id(finding.id());
  trial->set_name(finding.name());
  if (finding.has_gain()) *trial->mutable_predicted() = finding.gain();
  return trial;
}

}  // namespace

std::unique_ptr<google::protobuf::Message> PlanTrials(const google::protobuf::Message& advice,
                                                      const std::vector<std::string>& nodes) {
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
  bool has_nodes = false;  // once is enough
  for (const results::Finding& finding : from.findings()) {
    const bool tries_nodes = !has_nodes && !nodes.empty() && IsAboutPlaces(finding.id());
    if (tries_nodes) {
      for (const std::string& list : nodes) AddTrial(finding, trials.get())->set_processors(list);
      has_nodes = true;
    }
    if (finding.remedies().empty() && !tries_nodes)
      leave_out(finding, "no variable of the environment can do this");
    for (const results::Remedy& remedy : finding.remedies()) {
      const auto [same, is_new] = planned.try_emplace(KeyOf(remedy), finding.id());
      if (!is_new) {
        leave_out(finding, "the same change is tried for " + same->second);
        continue;
      }
      *AddTrial(finding, trials.get())->mutable_remedy() = remedy;
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
