// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_timeline.h.

#include "analysis/timeline/page_timeline.h"

#include <utility>

#include "analysis/model/file_parts.h"
#include "analysis/model/row_store.h"
#include "analysis/model/trace.h"
#include "analysis/steps/step_marks.h"
#include "analysis/timeline/answer.h"

namespace gpuprof::analysis {

struct PageTimeline::Parts {
  Parts(std::shared_ptr<const Trace> its_trace, const timeline::TimelineOptions& options,
        std::string its_state)
      : trace(its_trace), timeline(std::move(its_trace), options), state(std::move(its_state)) {}

  std::shared_ptr<const Trace> trace;
  timeline::Timeline timeline;
  std::string state;  // of the files
};

namespace {

// Says what the files hold, in words that change when a recording goes on.
std::string StateOf(const Trace& trace) {
  std::string state;
  for (const auto* processes : {&trace.processes, &trace.samplers}) {
    for (const Process& process : *processes)
      state += process.file + " " + std::to_string(process.rows) + " " +
               std::to_string(process.file_bytes) + "\n";
  }
  return state;
}

}  // namespace

PageTimeline::PageTimeline(InputPath path, OpenOptions options, bool is_rough,
                           std::shared_ptr<const std::vector<StepMark>> steps)
    : path_(std::move(path)),
      options_(std::move(options)),
      is_rough_(is_rough),
      steps_(std::move(steps)) {
  if (!is_rough_) return;
  auto no_rows = std::make_shared<FileParts>();
  if (options_.parts != nullptr) *no_rows = *options_.parts;
  no_rows->has_no_rows = true;
  options_.parts = std::move(no_rows);
}
PageTimeline::~PageTimeline() = default;

Error PageTimeline::Open(bool is_new_page) {
  if (parts_ != nullptr && !is_new_page) return {};
  OpenOptions open = options_;
  std::shared_ptr<const Trace> trace;
  if (parts_ != nullptr) {
    open.headers_only = true;
    if (Error error = analysis::Open(path_, open, &trace)) return error;
    if (StateOf(*trace) == parts_->state) return {};
    trace = nullptr;
    parts_ = nullptr;  // its memory goes before the new one's comes
    eager_ = {};
    is_damaged_ = false;
    found_steps_ = nullptr;
  }
  open.headers_only = false;
  open.tables = TableSet::All();
  open.lazy = options_.lazy && !is_damaged_;
  open.eager = eager_;
  if (Error error = analysis::Open(path_, open, &trace)) return error;
  std::string state = StateOf(*trace);
  uint64_t rows = 0;
  for (const Process& process : trace->processes) rows += process.rows;
  FindSteps(rows);
  timeline::TimelineOptions options;
  options.steps = found_steps_;
  options.step_fault = step_fault_;
  options.is_rough = is_rough_;
  parts_ = std::make_unique<Parts>(std::move(trace), options, std::move(state));
  return {};
}

// Sets the steps, if the timeline need not find them itself.
void PageTimeline::FindSteps(uint64_t rows) {
  if (found_steps_ != nullptr) return;
  step_fault_.clear();
  if (steps_ != nullptr || is_rough_) {
    found_steps_ = is_rough_ ? std::make_shared<std::vector<StepMark>>() : steps_;
  } else if (step_source_ && rows > most_rows_for_steps_) {
    auto steps = std::make_shared<std::vector<StepMark>>();
    const std::string packed = step_source_(&step_fault_);
    if (!ReadStepMarks(packed, steps.get())) step_fault_ = "The steps could not be read.";
    found_steps_ = std::move(steps);
  }
}

// Looks at what a question found out about lazy rows. Returns whether the answer is right. If it is
// not, the timeline is gone.
bool PageTimeline::IsRight() {
  const RowStore* const rows = parts_->trace->row_store.get();
  if (rows == nullptr) return true;
  const TableSet unordered = rows->Unordered();
  if (!rows->IsDamaged() && eager_.Contains(unordered)) return true;
  is_damaged_ = rows->IsDamaged();
  eager_ = eager_ | unordered;
  parts_ = nullptr;
  return false;
}

Error PageTimeline::Answer(std::string_view question, std::string* answer) {
  // A page asks this first.
  bool is_new_page = timeline::AsksForInfo(question);
  for (;;) {
    if (Error error = Open(is_new_page)) return error;
    Error error = timeline::Answer(&parts_->timeline, question, answer);
    if (IsRight()) return error;
    is_new_page = false;
  }
}

bool AsksRoughly(std::string_view question) { return timeline::AsksRoughly(question); }

}  // namespace gpuprof::analysis
