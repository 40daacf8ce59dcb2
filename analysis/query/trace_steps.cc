// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/query/trace_steps.h"

#include <algorithm>

#include "analysis/passes/context.h"

namespace gpuprof::analysis {

Error TraceSteps::Find() {
  const std::lock_guard lock(*mutex_);
  if (is_found_) return error_;
  is_found_ = true;
  PassContext context(session_, options_);
  error_ = context.Prepare();
  const size_t processes = session_->trace().processes.size();
  // Samplers have no steps.
  steps_.resize(processes + session_->trace().samplers.size());
  for (size_t process = 0; !error_ && process < processes; ++process) {
    std::vector<NumberedSpan>& spans = steps_[process];
    for (const Step& step : context.steps(process).steps)
      spans.push_back({step.span.start, step.span.end, step.number});
    std::sort(spans.begin(), spans.end(),
              [](const NumberedSpan& a, const NumberedSpan& b) { return a.start_ns < b.start_ns; });
  }
  return error_;
}

}  // namespace gpuprof::analysis
