// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See serving_facts.h.

#include "analysis/advice/facts/serving_facts.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/passes/device/served_iterations.h"
#include "analysis/steps/iterations.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr double kP99OfTokens = 0.99;

// Returns whether a mark tells that tokens are made. Few programs serve, so others cost no more.
bool MarksDecodes(const Process& process, const StepAnalysis& steps) {
  const std::vector<proto::IterationName> names = IterationsOf(process, steps);
  return std::any_of(names.begin(), names.end(), [](const proto::IterationName& name) {
    return name.phase == proto::IterationPhase::kDecode ||
           name.phase == proto::IterationPhase::kMixed;
  });
}

}  // namespace

ServingFacts FindServing(PassContext& context, size_t index) {
  ServingFacts facts;
  const StepAnalysis& leading = context.steps(index);
  if (!MarksDecodes(context.process(index), leading)) return facts;
  for (const ServingThread& thread : ServingThreadsOf(context, index)) {
    if (thread.steps != &leading) continue;
    std::vector<int64_t> all, plain;
    for (size_t i = 0; i < thread.iterations.size(); ++i) {
      const ServedIteration& each = thread.iterations[i];
      if (!each.token_gap_ns) continue;
      all.push_back(*each.token_gap_ns);
      if (!each.gap_has_prefill) {
        plain.push_back(*each.token_gap_ns);
        continue;
      }
      ++facts.prompt_gaps;
      if (*each.token_gap_ns <= facts.longest.duration_ns) continue;
      const Step& step = leading.steps[i];
      const int64_t end = each.forward ? each.forward->end : step.span.end;
      facts.longest.duration_ns = *each.token_gap_ns;
      facts.longest.start_ns = end - *each.token_gap_ns;
      facts.longest.step = step.number;
    }
    facts.gaps = all.size();
    facts.p99_ns = Samples(std::move(all)).Percentile(kP99OfTokens);
    facts.plain_p99_ns = Samples(std::move(plain)).Percentile(kP99OfTokens);
  }
  return facts;
}

}  // namespace gpuprof::analysis
