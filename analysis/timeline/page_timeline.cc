// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_timeline.h.

#include "analysis/timeline/page_timeline.h"

#include <utility>

#include "analysis/model/file_parts.h"
#include "analysis/model/trace.h"
#include "analysis/timeline/answer.h"

namespace gpuprof::analysis {

struct PageTimeline::Parts {
  Parts(std::shared_ptr<const Trace> trace, const timeline::TimelineOptions& options,
        std::string its_state)
      : timeline(std::move(trace), options), state(std::move(its_state)) {}

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
  }
  open.headers_only = false;
  open.tables = TableSet::All();
  if (Error error = analysis::Open(path_, open, &trace)) return error;
  std::string state = StateOf(*trace);
  timeline::TimelineOptions options;
  options.steps = is_rough_ ? std::make_shared<std::vector<StepMark>>() : steps_;
  options.is_rough = is_rough_;
  parts_ = std::make_unique<Parts>(std::move(trace), options, std::move(state));
  return {};
}

Error PageTimeline::Answer(std::string_view question, std::string* answer) {
  // A page asks this first.
  const bool is_new_page = timeline::AsksForInfo(question);
  if (Error error = Open(is_new_page)) return error;
  return timeline::Answer(&parts_->timeline, question, answer);
}

bool AsksRoughly(std::string_view question) { return timeline::AsksRoughly(question); }

}  // namespace gpuprof::analysis
