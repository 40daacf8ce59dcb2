// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See numbered_steps.h.

#include "analysis/steps/numbered_steps.h"

#include <algorithm>
#include <cstdint>

namespace gpuprof::analysis {

std::vector<StepAnalysis> NumberedSteps(const Trace& trace, ProcessOps& ops,
                                        const RegularExpression* marker) {
  const StepCapture capture = StepCaptureOf(trace, ops.process());
  std::vector<StepAnalysis> steps = AnalyseSteps(ops, marker, capture);
  // If several optimizer steps make a step, a step has the number that its last one gives it.
  // Ranges have their own numbers.
  const uint64_t counted = steps.front().detected.counted;
  const uint64_t before = (std::max<uint64_t>(capture.first, 1) + counted - 2) / counted;
  if (steps.front().detected.method != results::STEP_METHOD_RANGES)
    for (Step& step : steps.front().steps) step.number += before;
  return steps;
}

}  // namespace gpuprof::analysis
