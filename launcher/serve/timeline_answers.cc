// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See timeline_answers.h.

#include "launcher/serve/timeline_answers.h"

#include <utility>

#include "launcher/base/json_text.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

analysis::OpenOptions OptionsForPages() {
  analysis::OpenOptions options;
  options.kernel_rules = GivenKernelRules();
  return options;
}

}  // namespace

TimelineAnswers::OneTimeline::OneTimeline(const analysis::InputPath& input, bool is_rough)
    : timeline(input, OptionsForPages(), is_rough) {}

TimelineAnswers::TimelineAnswers(const analysis::InputPath& input)
    : whole_(input, false), rough_(input, true) {}

HttpAnswer TimelineAnswers::Get(const std::string& question) {
  HttpAnswer answer;
  answer.type = "application/json";
  OneTimeline& asked = analysis::AsksRoughly(question) ? rough_ : whole_;
  const std::lock_guard turn(asked.mutex);
  asked.is_busy = true;
  const analysis::Error error = asked.timeline.Answer(question, &answer.body);
  asked.is_busy = false;
  if (error) {
    answer.status = 422;
    answer.body = JsonText({{"reason", error.message}});
  } else if (answer.body.starts_with("GTA1")) {
    answer.type = "application/octet-stream";
  }
  return answer;
}

}  // namespace gpuprof::launcher
