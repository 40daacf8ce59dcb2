// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/advice/gain.h"

#include <algorithm>
#include <string>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {

GainRange Bound(int64_t ns, std::string_view change) {
  return {results::GAIN_METHOD_BOUND, 0, ns, change};
}

GainRange Replayed(int64_t ns, std::string_view change, double least_part) {
  return {results::GAIN_METHOD_REPLAYED, Part(ns, least_part), ns, change};
}

GainRange ExposedGain(int64_t saved_ns, int64_t exposed_ns, std::string_view change) {
  if (saved_ns <= 0) return Bound(exposed_ns, change);
  GainRange gain = Replayed(std::min(saved_ns, exposed_ns), change);
  gain.high_ns = exposed_ns;
  return gain;
}

GainRange NotComputed(std::string_view change) {
  return {results::GAIN_METHOD_NOT_COMPUTED, 0, 0, change};
}

int64_t BaseOf(const AdviceFacts& facts) {
  if (facts.overview->has_step()) return facts.overview->step().mean_ns();
  if (facts.device) return facts.device->StepNs();
  return facts.overview->steps().mean_ns();
}

void SetGain(const AdviceFacts& facts, const GainRange& range, results::Finding* finding) {
  const int64_t base = BaseOf(facts);
  results::Gain* gain = finding->mutable_gain();
  gain->set_method(range.method);
  gain->set_base_ns(base);
  gain->set_change(std::string(range.change));
  if (range.method == results::GAIN_METHOD_NOT_COMPUTED) return;
  gain->set_high_ns(std::clamp<int64_t>(range.high_ns, 0, base));
  gain->set_low_ns(std::clamp<int64_t>(range.low_ns, 0, gain->high_ns()));
  gain->set_low_ratio(Ratio(gain->low_ns(), base));
  gain->set_high_ratio(Ratio(gain->high_ns(), base));
  finding->set_severity(SeverityOf(facts, gain->high_ratio()));
}

void SetUnknownGain(const AdviceFacts& facts, std::string_view change, double share,
                    results::Finding* finding) {
  SetGain(facts, NotComputed(change), finding);
  finding->set_severity(SeverityOf(facts, share));
}

void LimitToRanks(const AdviceFacts& facts, results::Finding* finding) {
  if (!facts.device || !IsComputed(*finding)) return;
  if (finding->id() == "CO-002" || finding->id() == "CO-008") return;
  const RankFacts& ranks = facts.device->ranks;
  const results::DeviceSeries& series = facts.device->series;
  const bool is_slowest =
      ranks.slowest.pid == series.pid() && ranks.slowest.device == series.device();
  if (ranks.rank_count < 2 || is_slowest) return;
  results::Gain* gain = finding->mutable_gain();
  const int64_t most = std::max<int64_t>(gain->base_ns() - ranks.slowest_ns, 0);
  if (gain->high_ns() <= most) return;
  const std::string change = gain->change();
  SetGain(facts, {gain->method(), gain->low_ns(), most, change}, finding);
  finding->add_evidence("Another rank computes for " + FormatDuration(ranks.slowest_ns) +
                        " of a step: no rank can be faster.");
}

bool IsComputed(const results::Finding& finding) {
  return finding.has_gain() && finding.gain().method() != results::GAIN_METHOD_NOT_COMPUTED;
}

int64_t MiddleNs(const results::Finding& finding) {
  return (finding.gain().low_ns() + finding.gain().high_ns()) / 2;
}

int64_t HighNs(const results::Finding& finding) { return finding.gain().high_ns(); }

double HighRatio(const results::Finding& finding) { return finding.gain().high_ratio(); }

}  // namespace gpuprof::analysis
