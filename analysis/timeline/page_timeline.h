// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The timeline of an input for a page. The input is opened at the first question, and kept. It is
// opened again when its files have changed, and the page asks for its tracks anew.
//
// Rows may stay in the files until a question reads them (OpenOptions::lazy). Then a question may
// find that they are damaged, or not in order. The input is opened again with all rows, and the
// question is answered anew.
//
// A rough timeline knows blocks of rows by their headers alone: it is there at once, however large
// the input is.
//
// One thread at a time. Errors say what to do.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

struct StepMark;

class PageTimeline {
 public:
  // Keeps all of these. `options`: without tables; all are there. `steps`: those of the whole
  // recording, if `options` leave parts out; null: they are found.
  PageTimeline(InputPath path, OpenOptions options, bool is_rough = false,
               std::shared_ptr<const std::vector<StepMark>> steps = nullptr);
  ~PageTimeline();
  PageTimeline(const PageTimeline&) = delete;
  PageTimeline& operator=(const PageTimeline&) = delete;

  // Finds the steps of a large recording by another process, which takes the memory that this needs
  // for a while. Returns what PackStepMarks() makes. `fault`: says in a sentence why
  // the steps are missing.
  using StepSource = std::function<std::string(std::string* fault)>;
  static constexpr uint64_t kMostRowsForSteps = 20'000'000;
  // Asks `source` for the steps of recordings with more than `most_rows`. Before any question.
  void FindStepsBy(StepSource source, uint64_t most_rows = kMostRowsForSteps) {
    step_source_ = std::move(source);
    most_rows_for_steps_ = most_rows;
  }

  // Answers a question. analysis/timeline/answer.h has the forms of both.
  Error Answer(std::string_view question, std::string* answer);

 private:
  struct Parts;
  Error Open(bool is_new_page);
  void FindSteps(uint64_t rows);
  bool IsRight();

  const InputPath path_;
  OpenOptions options_;
  const bool is_rough_;
  const std::shared_ptr<const std::vector<StepMark>> steps_;
  StepSource step_source_;
  uint64_t most_rows_for_steps_ = kMostRowsForSteps;
  std::shared_ptr<const std::vector<StepMark>> found_steps_;  // of these files, by `step_source_`
  std::string step_fault_;
  std::unique_ptr<Parts> parts_;  // null: nothing was asked yet
  TableSet eager_;                // tables of these files that cannot be lazy
  bool is_damaged_ = false;       // these files cannot be read lazily
};

// Returns whether a question is one to a rough timeline.
bool AsksRoughly(std::string_view question);

}  // namespace gpuprof::analysis
