// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_timeline.h.

#include "analysis/timeline/page_timeline.h"

#include <utility>

#include "analysis/model/trace.h"
#include "analysis/timeline/answer.h"

namespace gpuprof::analysis {

struct PageTimeline::Parts {
  Parts(std::shared_ptr<const Trace> trace, std::string its_state)
      : timeline(std::move(trace)), state(std::move(its_state)) {}

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

uint64_t RowsOf(const Trace& trace) {
  uint64_t rows = 0;
  for (const auto* processes : {&trace.processes, &trace.samplers}) {
    for (const Process& process : *processes) rows += process.rows;
  }
  return rows;
}

}  // namespace

PageTimeline::PageTimeline(InputPath path, OpenOptions options)
    : path_(std::move(path)), options_(std::move(options)) {}
PageTimeline::~PageTimeline() = default;

Error PageTimeline::Open(bool is_new_page) {
  if (parts_ != nullptr && !is_new_page) return {};
  OpenOptions open = options_;
  open.headers_only = true;
  std::shared_ptr<const Trace> trace;
  if (Error error = analysis::Open(path_, open, &trace)) return error;
  if (parts_ != nullptr && StateOf(*trace) == parts_->state) return {};
  if (RowsOf(*trace) > kMostRows)
    return UsageError("The recording has more than " + std::to_string(kMostRows) +
                      " rows. The server does not draw it; the page reads its files.");
  parts_ = nullptr;  // its memory goes before the new one's comes
  open.headers_only = false;
  open.tables = TableSet::All();
  if (Error error = analysis::Open(path_, open, &trace)) return error;
  std::string state = StateOf(*trace);
  parts_ = std::make_unique<Parts>(std::move(trace), std::move(state));
  return {};
}

Error PageTimeline::Answer(std::string_view question, std::string* answer) {
  // A page asks this first.
  const bool is_new_page = timeline::AsksForInfo(question);
  if (Error error = Open(is_new_page)) return error;
  return timeline::Answer(&parts_->timeline, question, answer);
}

}  // namespace gpuprof::analysis
