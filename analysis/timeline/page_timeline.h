// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The timeline of an input for a page of a server. The input is opened at the first question, and
// kept. It is opened again when its files have changed, and the page asks for its tracks anew.
//
// One thread at a time. Errors say what to do.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

class PageTimeline {
 public:
  // Most rows, of all tables, of an input that has a timeline: they stay in memory.
  static constexpr uint64_t kMostRows = 20'000'000;

  // Keeps both. `options`: without tables; all are read.
  PageTimeline(InputPath path, OpenOptions options);
  ~PageTimeline();
  PageTimeline(const PageTimeline&) = delete;
  PageTimeline& operator=(const PageTimeline&) = delete;

  // Answers a question. analysis/timeline/answer.h has the forms of both.
  Error Answer(std::string_view question, std::string* answer);

 private:
  struct Parts;
  Error Open(bool is_new_page);

  const InputPath path_;
  const OpenOptions options_;
  std::unique_ptr<Parts> parts_;  // null: nothing was asked yet
};

}  // namespace gpuprof::analysis
