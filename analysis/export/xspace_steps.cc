// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xspace_steps.h.

#include "analysis/export/xspace_steps.h"

#include <algorithm>

#include "proto/step_names.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kGenericContext = 0;  // tsl::profiler::ContextType::kGeneric

}  // namespace

XSpaceSteps::XSpaceSteps(PassContext& context, size_t process) : process_(process) {
  const StepAnalysis& found = context.steps(process);
  track_ = found.detected.track;
  // XProf knows these two names, the second one for work that does not train.
  const char* const name = found.detected.trains ? "train" : "test";
  for (const analysis::Step& step : found.steps) steps_.push_back({step.span, step.number, name});
}

size_t XSpaceSteps::Find(Interval span) const {
  const auto at =
      std::lower_bound(steps_.begin(), steps_.end(), span.start,
                       [](const Step& step, int64_t start) { return step.span.start < start; });
  const bool is_found = at != steps_.end() && at->span == span;
  return is_found ? static_cast<size_t>(at - steps_.begin()) : size();
}

bool XSpaceSteps::TakeRange(size_t step, const std::string& name, const std::string& domain) {
  const auto text = [](const std::string& of) {
    return proto::NameText{of.data(), static_cast<uint32_t>(of.size())};
  };
  const proto::StepName read =
      proto::ReadStepName(text(name), domain.empty() ? proto::NameText{} : text(domain), "");
  if (!read.is_step) return false;
  steps_[step].name = name.substr(0, read.word_bytes);
  return true;
}

void XSpaceSteps::Write(size_t step, int64_t start_ns, XPlaneWriter* plane) const {
  const Step& at = steps_[step];
  plane->BeginEvent(at.name, at.span.start - start_ns, at.span.length());
  plane->Number("_r", 1);
  plane->Number("step_num", static_cast<int64_t>(at.number));
  plane->Number("_pt", kGenericContext);
  plane->Number("_p", static_cast<int64_t>(step + 1));
  plane->EndEvent();
}

void XSpaceSteps::Link(size_t process, int64_t time_ns, XPlaneWriter* plane) const {
  if (process != process_) return;
  const auto after =
      std::upper_bound(steps_.begin(), steps_.end(), time_ns,
                       [](int64_t time, const Step& step) { return time < step.span.start; });
  if (after == steps_.begin() || time_ns >= (after - 1)->span.end) return;
  plane->Number("_ct", kGenericContext);
  plane->Number("_c", after - steps_.begin());
}

}  // namespace gpuprof::analysis
