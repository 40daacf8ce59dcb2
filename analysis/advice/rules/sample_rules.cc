// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about samples of stacks, for programs without steps and without a GPU. See rules.h.

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// Returns the samples if nothing else explains the run: neither steps nor a GPU. Null: none.
const SampleFacts* SamplesOfRun(const AdviceFacts& facts) {
  const bool is_explained =
      facts.overview->has_steps() || facts.device || facts.overview->has_gpu();
  return is_explained || !facts.samples ? nullptr : &*facts.samples;
}

double PartOfRun(const AdviceFacts& facts, int64_t ns) { return Ratio(ns, BaseOf(facts)); }

results::Level LevelOf(const SampleFacts& samples) {
  constexpr uint64_t kMany = 1000;
  return samples.count >= kMany ? results::LEVEL_HIGH : results::LEVEL_MEDIUM;
}

// "handle (app/server.py:12)"
Argument NameOf(const SampledFunction& function) {
  if (function.place.empty()) return say::Name(function.name);
  return say::Phrase({"PY-001.function", {say::Name(function.name), say::Name(function.place)}});
}

// Each with its time, as a list.
Argument ListOf(const std::vector<SampledFunction>& functions) {
  std::vector<Sentence> list;
  for (const SampledFunction& each : functions)
    list.push_back({"PY-001.time_of", {NameOf(each), say::Duration(each.total_ns)}});
  return say::List(std::move(list));
}

void AddProcess(const SampleFacts& samples, Finding* finding) {
  if (!samples.process.empty())
    finding->Evidence("PY-001.of_process", {say::Name(samples.process)});
}

}  // namespace

std::optional<Finding> BusyFunction(const AdviceFacts& facts) {
  const SampleFacts* samples = SamplesOfRun(facts);
  if (samples == nullptr) return std::nullopt;
  const SampledFunction& busiest = samples->busiest;
  const double part = Ratio(busiest.total_ns, samples->cpu_ns);
  if (part < facts.limits("PY-001.min_share") ||
      PartOfRun(facts, busiest.covered_ns) < facts.limits("PY-001.min_run_share"))
    return std::nullopt;
  Finding finding = Make("PY-001.name", LevelOf(*samples), {"PY-001.reason"});
  finding.name.arguments = {say::Name(busiest.name), say::Percent(part)};
  AddProcess(*samples, &finding);
  finding.Evidence("PY-001.used", {NameOf(busiest), say::Duration(busiest.total_ns),
                                   say::Duration(samples->cpu_ns), say::Percent(part),
                                   say::Count(busiest.thread_count)});
  if (samples->in_libraries_ns > 0)
    finding.Evidence("PY-001.in_libraries", {say::Duration(samples->in_libraries_ns)});
  if (!samples->callers.empty()) finding.Evidence("PY-001.callers", {ListOf(samples->callers)});
  SetGain(facts, Bound(busiest.covered_ns, "PY-001.gain"), &finding);
  finding.Fix("PY-001.look_at_its_lines");
  finding.Fix("PY-001.do_less_in_it");
  finding.Caveat("PY-001.caveat");
  return finding;
}

std::optional<Finding> WaitsForGil(const AdviceFacts& facts) {
  const SampleFacts* samples = SamplesOfRun(facts);
  if (samples == nullptr) return std::nullopt;
  const double part = Ratio(samples->gil_ns, samples->gil_ns + samples->cpu_ns);
  if (part < facts.limits("PY-002.min_share") ||
      PartOfRun(facts, samples->gil_covered_ns) < facts.limits("PY-002.min_run_share"))
    return std::nullopt;
  Finding finding = Make("PY-002.name", LevelOf(*samples), {"PY-002.reason"});
  AddProcess(*samples, &finding);
  finding.Evidence("PY-002.waited", {say::Count(samples->gil_thread_count),
                                     say::Duration(samples->gil_ns), say::Percent(part)});
  if (!samples->gil_waiter.name.empty())
    finding.Evidence("PY-002.longest",
                     {say::Duration(samples->gil_waiter.total_ns), NameOf(samples->gil_waiter)});
  if (!samples->gil_holders.empty())
    finding.Evidence("PY-002.holders", {ListOf(samples->gil_holders)});
  SetGain(facts, Bound(samples->gil_covered_ns, "PY-002.gain"), &finding);
  finding.Fix("PY-002.use_processes");
  finding.Fix("PY-002.release_the_lock");
  finding.Caveat("PY-002.caveat");
  return finding;
}

std::optional<Finding> LongWaits(const AdviceFacts& facts) {
  const SampleFacts* samples = SamplesOfRun(facts);
  if (samples == nullptr) return std::nullopt;
  const SampledFunction& waiting = samples->waiting;
  const double part = Ratio(waiting.total_ns, samples->awake_ns);
  if (part < facts.limits("PY-003.min_share") ||
      PartOfRun(facts, waiting.covered_ns) < facts.limits("PY-003.min_run_share"))
    return std::nullopt;
  Finding finding = Make("PY-003.name", results::LEVEL_MEDIUM, {"PY-003.reason"});
  finding.name.arguments = {say::Name(waiting.name)};
  AddProcess(*samples, &finding);
  std::vector<Sentence> caller;
  if (!samples->waiting_caller.empty())
    caller.push_back({"PY-003.called_by", {say::Name(samples->waiting_caller)}});
  finding.Evidence("PY-003.waited",
                   {say::Count(waiting.thread_count), NameOf(waiting), say::Run(std::move(caller)),
                    say::Duration(waiting.total_ns), say::Percent(part)});
  SetUnknownGain(facts, "PY-003.gain", part, &finding);
  finding.severity = results::SEVERITY_MEDIUM;
  finding.Fix("PY-003.hold_locks_shorter");
  finding.Fix("PY-003.ask_peers_less");
  finding.Caveat("PY-003.caveat");
  return finding;
}

std::optional<Finding> CollectionsInRun(const AdviceFacts& facts) {
  const Pieces& pieces = facts.host.collections;
  if (facts.overview->has_steps() || !facts.host.has_pauses) return std::nullopt;
  const double part = Ratio(pieces.total_ns, facts.overview->run_ns());
  const bool is_long = pieces.longest.duration_ns >= facts.limits.Whole("PY-004.min_pause");
  if (part < facts.limits("PY-004.min_share") && !is_long) return std::nullopt;
  Finding finding = Make("PY-004.name", results::LEVEL_HIGH, {"PY-004.reason"});
  SetGain(facts, Bound(pieces.total_ns, "PY-004.gain"), &finding);
  finding.Evidence("PY-004.paused",
                   {say::Duration(pieces.total_ns), say::Percent(part), say::Count(pieces.count),
                    say::Duration(pieces.longest.duration_ns)});
  finding.Fix("PY-004.collect_less");
  return finding;
}

}  // namespace gpuprof::analysis
