// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about recordings without steps. See rules.h.

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/function_name.h"

namespace gpuprof::analysis {
namespace {

// Returns a part of the time of the thread that leads the run.
Argument PartOf(int64_t ns, int64_t whole) {
  return say::Phrase({"RU-001.part", {say::Duration(ns), say::Percent(Ratio(ns, whole))}});
}

}  // namespace

std::optional<Finding> DataInRun(const AdviceFacts& facts) {
  if (facts.overview->has_steps() || !facts.run) return std::nullopt;
  const RunAccount& run = *facts.run;
  const double part = Ratio(run.data_wait_ns, run.life_ns);
  if (part < facts.limits("IN-007.min_share")) return std::nullopt;
  Finding finding = Make("IN-007.name_run", results::LEVEL_MEDIUM, {"IN-007.reason_run"});
  finding.severity = part >= facts.limits("IN-007.medium_share") ? results::SEVERITY_MEDIUM
                                                                 : results::SEVERITY_LOW;
  finding.Evidence("IN-007.waits_inside_tf_data",
                   {say::Count(run.data_wait_count), PartOf(run.data_wait_ns, run.life_ns)});
  finding.Fix("IN-007.let_tf_data_work");
  finding.Fix("IN-007.make_element_cheaper_or_cache");
  finding.Caveat("IN-007.caveat");
  return finding;
}

std::optional<Finding> TimeOfRun(const AdviceFacts& facts) {
  if (facts.overview->has_steps() || !facts.run) return std::nullopt;
  const RunAccount& run = *facts.run;
  const bool waits = Ratio(run.waiting_ns, run.life_ns) >= facts.limits("RU-001.min_waits");
  Finding finding = Make("RU-001.name", results::LEVEL_HIGH, {"RU-001.reason"});
  finding.severity = results::SEVERITY_INFO;
  std::vector<Sentence> whose, ready;
  if (!run.process.empty()) whose.push_back({"RU-001.of_process", {say::Name(run.process)}});
  if (run.runqueue_wait_ns > 0)
    ready.push_back({"RU-001.ready", {PartOf(run.runqueue_wait_ns, run.life_ns)}});
  finding.Evidence("RU-001.thread",
                   {say::Name(run.name), say::Plain(run.tid), say::Run(std::move(whose)),
                    say::Duration(run.life_ns), PartOf(run.cpu_ns, run.life_ns),
                    say::Run(std::move(ready)), PartOf(run.waiting_ns, run.life_ns)});
  if (run.busy_cores > 0) {
    finding.Evidence(
        "RU-001.threads_process_together_kept",
        {say::Real(run.busy_cores), say::Plain(facts.overview->environment().core_count())});
  }
  for (const RunWait& wait : run.waits) {
    if (Ratio(wait.total_ns, run.life_ns) < facts.limits("RU-001.min_named")) continue;
    std::vector<Sentence> caller;
    if (!wait.caller.empty())
      caller.push_back({"RU-001.called_by", {say::Name(ShortFunctionName(wait.caller))}});
    finding.Evidence("RU-001.kind", {say::Duration(wait.total_ns), say::Count(wait.count),
                                     say::Name(wait.kind), say::Run(std::move(caller))});
  }
  if (waits) {
    finding.Fix("RU-001.find_waits_wait_gpuprof");
  }
  finding.Fix("RU-001.put_nvtx_range_called");
  if (!facts.samples) finding.Caveat("RU-001.caveat");
  return finding;
}

}  // namespace gpuprof::analysis
