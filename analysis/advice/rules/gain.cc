// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/advice/rules/gain.h"

#include <algorithm>
#include <utility>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {

GainRange Bound(int64_t ns, Sentence change) {
  return {results::GAIN_METHOD_BOUND, 0, ns, std::move(change)};
}

GainRange Replayed(int64_t ns, Sentence change, double least_part) {
  return {results::GAIN_METHOD_REPLAYED, Part(ns, least_part), ns, std::move(change)};
}

GainRange ExposedGain(int64_t saved_ns, int64_t exposed_ns, Sentence change) {
  if (saved_ns <= 0) return Bound(exposed_ns, std::move(change));
  GainRange gain = Replayed(std::min(saved_ns, exposed_ns), std::move(change));
  gain.high_ns = exposed_ns;
  return gain;
}

GainRange NotComputed(Sentence change) {
  return {results::GAIN_METHOD_NOT_COMPUTED, 0, 0, std::move(change)};
}

int64_t BaseOf(const AdviceFacts& facts) {
  if (facts.overview->has_step()) return facts.overview->step().mean_ns();
  if (facts.device) return facts.device->StepNs();
  return facts.overview->has_steps() ? facts.overview->steps().mean_ns() : facts.overview->run_ns();
}

void SetGain(const AdviceFacts& facts, const GainRange& range, Finding* finding) {
  const int64_t base = BaseOf(facts);
  FindingGain& gain = finding->gain.emplace();
  gain.method = range.method;
  gain.base_ns = base;
  gain.is_of_run = !facts.overview->has_step() && !facts.device && !facts.overview->has_steps();
  gain.change = range.change;
  if (range.method == results::GAIN_METHOD_NOT_COMPUTED) return;
  gain.high_ns = std::clamp<int64_t>(range.high_ns, 0, base);
  gain.low_ns = std::clamp<int64_t>(range.low_ns, 0, gain.high_ns);
  gain.low_ratio = Ratio(gain.low_ns, base);
  gain.high_ratio = Ratio(gain.high_ns, base);
  finding->severity = SeverityOf(facts, gain.high_ratio);
}

void SetUnknownGain(const AdviceFacts& facts, Sentence change, double share, Finding* finding) {
  SetGain(facts, NotComputed(std::move(change)), finding);
  finding->severity = SeverityOf(facts, share);
}

void LimitToRanks(const AdviceFacts& facts, Finding* finding) {
  if (!facts.device || !IsComputed(*finding)) return;
  if (finding->id == "CO-002" || finding->id == "CO-008") return;
  const RankFacts& ranks = facts.device->ranks;
  const results::DeviceSeries& series = facts.device->series;
  const bool is_slowest =
      ranks.slowest.pid == series.pid() && ranks.slowest.device == series.device();
  if (ranks.rank_count < 2 || is_slowest) return;
  const FindingGain gain = *finding->gain;
  const int64_t most = std::max<int64_t>(gain.base_ns - ranks.slowest_ns, 0);
  if (gain.high_ns <= most) return;
  SetGain(facts, {gain.method, gain.low_ns, most, gain.change}, finding);
  finding->Evidence("all.another_rank", {say::Duration(ranks.slowest_ns)});
}

bool IsComputed(const Finding& finding) {
  return finding.gain && finding.gain->method != results::GAIN_METHOD_NOT_COMPUTED;
}

int64_t MiddleNs(const Finding& finding) {
  return finding.gain ? (finding.gain->low_ns + finding.gain->high_ns) / 2 : 0;
}

int64_t HighNs(const Finding& finding) { return finding.gain ? finding.gain->high_ns : 0; }

double HighRatio(const Finding& finding) { return finding.gain ? finding.gain->high_ratio : 0; }

}  // namespace gpuprof::analysis
