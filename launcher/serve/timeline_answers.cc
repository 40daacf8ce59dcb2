// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See timeline_answers.h.

#include "launcher/serve/timeline_answers.h"

#include <utility>

#include "analysis/passes/page_need.h"
#include "launcher/base/json_text.h"
#include "launcher/base/text.h"
#include "launcher/reading/reading.h"
#include "launcher/serve/page_order.h"

namespace gpuprof::launcher {
namespace {

analysis::OpenOptions OptionsForPages() {
  analysis::OpenOptions options;
  options.kernel_rules = GivenKernelRules();
  options.lazy = true;
  return options;
}

// Has another process find the steps of a large recording: it may take gigabytes for a while.
std::string StepsOf(const analysis::InputPath& input, std::string* fault) {
  analysis::OpenOptions headers;
  headers.headers_only = true;
  std::shared_ptr<const analysis::Trace> trace;
  if (const analysis::Error error = analysis::Open(input, headers, &trace)) {
    *fault = error.message;
    return "";
  }
  const uint64_t needed = analysis::NeedOf(*trace, "steps", {}).memory_bytes;
  const uint64_t free = analysis::FreeMemory();
  if (needed > free) {
    *fault = "The timeline has no steps: finding them takes about " + FormatBytes(needed) +
             " of memory, and " + FormatBytes(free) + " are free.";
    return "";
  }
  return RunStepsOrder({input}, fault);
}

}  // namespace

TimelineAnswers::OneTimeline::OneTimeline(const analysis::InputPath& input, bool is_rough)
    : timeline(input, OptionsForPages(), is_rough) {
  timeline.FindStepsBy([input](std::string* fault) { return StepsOf(input, fault); });
}

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
