// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Facts about the gaps of a device (analysis/advice/facts/idle_facts.h).

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/advice/facts/fact_source.h"
#include "analysis/passes/device/idle_gaps.h"
#include "analysis/symbols/short_names.h"

namespace gpuprof::analysis {
namespace {

using LateByName = std::unordered_map<uint32_t, int64_t>;

std::map<std::string, int64_t> WithNames(const Process& process, const LateByName& late) {
  std::map<std::string, int64_t> named;
  for (const auto& [name, ns] : late) named[process.String(name)] += ns;
  return named;
}

// Finds the gaps that show best what devices wait for. Short gaps show little: of millions of gaps
// only the longest are looked at.
void FindLongestOfCauses(IdleGaps& gaps, std::vector<const IdleSpan*> spans, IdleFacts* facts) {
  constexpr size_t kLookedAt = 1000;
  const auto end = spans.begin() + static_cast<std::ptrdiff_t>(std::min(kLookedAt, spans.size()));
  std::partial_sort(spans.begin(), end, spans.end(), [](const IdleSpan* a, const IdleSpan* b) {
    return a->duration_ns != b->duration_ns ? a->duration_ns > b->duration_ns
                                            : a->start_ns < b->start_ns;
  });
  std::map<size_t, std::pair<int64_t, const IdleSpan*>> longest;  // by category
  for (auto at = spans.begin(); at != end; ++at) {
    const IdleSpan& span = **at;
    const DeviceTimes times = gaps.TimesOf(span);
    for (size_t category = 0; category < times.size(); ++category) {
      if (times[category] == 0) continue;
      auto& [ns, which] = longest[category];
      if (times[category] <= ns) continue;
      ns = times[category];
      which = &span;
    }
  }
  for (const auto& [category, found] : longest)
    facts->longest_of[static_cast<results::TimeCategory>(category)] = gaps.Describe(*found.second);
}

}  // namespace

void FillIdleFacts(PassContext& context, size_t index, const results::DeviceSeries& series,
                   IdleFacts* facts) {
  const bool has_steps = series.window() != results::STEP_WINDOW_ALL;
  const std::shared_ptr<IdleGaps> known = IdleGaps::Of(context, index);
  IdleGaps& gaps = *known;
  const IdleSpan* longest = nullptr;
  std::vector<const IdleSpan*> counted;
  LateByName by_op, by_function;
  const auto add = [&](const IdleSpan& span) {
    const bool counts = span.device == series.device() && span.start_ns >= series.start_ns() &&
                        span.start_ns < series.end_ns();
    if (!counts) return;
    counted.push_back(&span);
    constexpr int64_t kLongNs = 1'000'000;
    const int64_t host_ns =
        span.duration_ns < kLongNs ? 0 : gaps.TimesOf(span)[results::TIME_CATEGORY_HOST];
    facts->gaps.push_back({span.duration_ns, span.late_ns, host_ns});
    if (longest == nullptr || span.duration_ns > longest->duration_ns) longest = &span;
    gaps.ForEachLate(
        span, [&](uint32_t name, int64_t ns) { by_op[name] += ns; },
        [&](uint32_t name, int64_t ns) { by_function[name] += ns; });
  };
  // The time before the device's first work is a gap of the steps.
  std::optional<IdleSpan> before;
  if (has_steps) before = gaps.Before(series.device(), series.start_ns());
  if (before) add(*before);
  for (const IdleSpan& span : gaps.spans()) add(span);
  facts->late_by_op = WithNames(gaps.process(), by_op);
  facts->late_by_function = WithNames(gaps.process(), by_function);
  if (longest == nullptr) return;
  FindLongestOfCauses(gaps, std::move(counted), facts);
  facts->longest = gaps.Describe(*longest);
  const std::string name = facts->longest.name();
  facts->longest.set_short_name(ShortKernelNames({name}).at(name));
}

}  // namespace gpuprof::analysis
