// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See iterations.h.

#include "analysis/steps/iterations.h"

#include <string>

namespace gpuprof::analysis {

proto::IterationName IterationOf(const Process& process, const Step& step) {
  if (step.name == 0) return {};
  const std::string& name = process.String(step.name);
  return proto::ReadIterationName(name.data(), static_cast<uint32_t>(name.size()));
}

std::map<proto::IterationPhase, PhaseIterations> IterationsByPhase(const Process& process,
                                                                   const StepAnalysis& steps) {
  std::map<proto::IterationPhase, PhaseIterations> phases;
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    if (step.is_warmup) continue;
    const proto::IterationName name = IterationOf(process, step);
    if (!name.is_iteration) continue;
    PhaseIterations& phase = phases[name.phase];
    phase.steps.push_back(i);
    phase.lengths.push_back(step.span.length());
    const bool is_followed =
        i + 1 < steps.steps.size() && steps.steps[i + 1].capture == step.capture;
    if (is_followed)
      phase.gaps.push_back(std::max<int64_t>(steps.steps[i + 1].span.start - step.span.end, 0));
    phase.tells_requests &= name.requests != proto::IterationName::kUntold;
    phase.tells_tokens &= name.tokens != proto::IterationName::kUntold;
    if (phase.tells_requests) phase.requests += name.requests;
    if (phase.tells_tokens) phase.tokens += name.tokens;
  }
  return phases;
}

}  // namespace gpuprof::analysis
