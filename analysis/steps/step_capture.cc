// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_capture.h.

#include "analysis/steps/step_capture.h"

#include <algorithm>
#include <cstdlib>

#include "proto/contract.h"
#include "proto/step_names.h"

namespace gpuprof::analysis {

bool IsStepTrigger(const std::string& trigger) {
  return trigger == proto::kAtOptimizerStep || trigger == proto::kAtStepRange ||
         trigger == proto::kAtFirstStep || trigger == proto::kAtFunctionRun ||
         trigger == proto::kAtElement;
}

StepCapture StepCaptureOf(const Trace& trace, const Process& process) {
  StepCapture capture;
  const std::string trigger =
      process.captures.empty() ? "" : process.captures.front().start_trigger;
  if (trigger == proto::kAtOptimizerStep) capture.begin = StepCapture::Begin::kOptimizer;
  if (trigger == proto::kAtStepRange) capture.begin = StepCapture::Begin::kRange;
  const std::string prefix = std::string(proto::kEnvCapture) + "=steps:";
  for (const std::string& setting : trace.manifest.setting()) {
    if (setting.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string value = setting.substr(prefix.size());
    if (const size_t at = value.find('@'); at != std::string::npos)
      capture.range = value.substr(at + 1);
    if (IsStepTrigger(trigger)) capture.first = std::strtoull(value.c_str(), nullptr, 10);
    // What came before the first one that is told was over by then.
    if (trigger == proto::kAtFunctionRun) capture.first = std::max<uint64_t>(capture.first, 2);
    if (trigger == proto::kAtElement) capture.first = std::max<uint64_t>(capture.first, 3);
  }
  return capture;
}

}  // namespace gpuprof::analysis
