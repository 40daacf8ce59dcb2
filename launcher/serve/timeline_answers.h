// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The timeline's questions of a server's page. They are answered one after the other. Any thread
// may ask.

#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "analysis/analysis.h"
#include "analysis/timeline/page_timeline.h"
#include "launcher/serve/http_server.h"

namespace gpuprof::launcher {

class TimelineAnswers {
 public:
  // Answers about a bundle or one .gpt file. Nothing is opened yet.
  explicit TimelineAnswers(const analysis::InputPath& input);

  // Answers a question, which is an object of JSON (analysis/timeline/answer.h).
  HttpAnswer Get(const std::string& question);
  // Returns whether a question is being answered. This cannot be interrupted.
  bool IsBusy() const { return is_busy_; }

 private:
  std::mutex mutex_;  // of the timeline
  std::atomic<bool> is_busy_ = false;
  analysis::PageTimeline timeline_;
};

}  // namespace gpuprof::launcher
