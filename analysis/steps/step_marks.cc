// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_marks.h.

#include "analysis/steps/step_marks.h"

#include <algorithm>
#include <map>

#include "analysis/steps/numbered_steps.h"
#include "proto/bundle_parts.pb.h"

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

std::vector<StepMark> FindStepMarks(const Trace& trace) {
  std::map<uint32_t, ProcessOps> ops;
  return FindStepMarks(trace, [&](uint32_t process) -> ProcessOps& {
    return ops.try_emplace(process, trace.processes[process]).first->second;
  });
}

std::string PackStepMarks(const std::vector<StepMark>& marks) {
  proto::BundleParts packed;
  for (const StepMark& step : marks) {
    proto::StepMark* const to = packed.add_step();
    to->set_process(step.process);
    to->set_tid(step.tid);
    to->set_number(step.number);
    to->set_start_ns(step.start_ns);
    to->set_duration_ns(step.duration_ns);
  }
  return packed.SerializeAsString();
}

bool ReadStepMarks(std::string_view bytes, std::vector<StepMark>* marks) {
  proto::BundleParts packed;
  if (!packed.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  for (const proto::StepMark& step : packed.step()) {
    marks->push_back(
        {step.process(), step.tid(), step.number(), step.start_ns(), step.duration_ns()});
  }
  return true;
}

}  // namespace gpuprof::analysis
