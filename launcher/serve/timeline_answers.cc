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

TimelineAnswers::TimelineAnswers(const analysis::InputPath& input)
    : timeline_(input, OptionsForPages()) {}

HttpAnswer TimelineAnswers::Get(const std::string& question) {
  HttpAnswer answer;
  answer.type = "application/json";
  const std::lock_guard turn(mutex_);
  is_busy_ = true;
  const analysis::Error error = timeline_.Answer(question, &answer.body);
  is_busy_ = false;
  if (error) {
    answer.status = 422;
    answer.body = JsonText({{"reason", error.message}});
  } else if (answer.body.starts_with("GTA1")) {
    answer.type = "application/octet-stream";
  }
  return answer;
}

}  // namespace gpuprof::launcher
