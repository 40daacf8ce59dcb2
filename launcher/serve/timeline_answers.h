// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The timeline's questions of a server's page. They are answered one after the other; those to the
// rough timeline do not wait for the others. Any thread may ask.

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
  bool IsBusy() const { return whole_.is_busy || rough_.is_busy; }

 private:
  struct OneTimeline {
    OneTimeline(const analysis::InputPath& input, bool is_rough);

    std::mutex mutex;  // of the timeline
    std::atomic<bool> is_busy = false;
    analysis::PageTimeline timeline;
  };

  OneTimeline whole_, rough_;
};

}  // namespace gpuprof::launcher
