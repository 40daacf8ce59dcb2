// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_marks.h.

#include "analysis/steps/step_marks.h"

#include <algorithm>

#include "analysis/steps/numbered_steps.h"

namespace gpuprof::analysis {

std::vector<StepMark> FindStepMarks(const Trace& trace,
                                    const std::function<ProcessOps&(uint32_t)>& ops_of) {
  std::vector<StepMark> marks;
  for (uint32_t process = 0; process < trace.processes.size(); ++process) {
    for (const StepAnalysis& analysis : NumberedSteps(trace, ops_of(process), nullptr)) {
      if (!analysis.found()) continue;
      for (const Step& step : analysis.steps) {
        marks.push_back({process, analysis.summary.tid, static_cast<uint32_t>(step.number),
                         step.span.start, std::max<int64_t>(step.span.length(), 0)});
      }
    }
  }
  return marks;
}

}  // namespace gpuprof::analysis
