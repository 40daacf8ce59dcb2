// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/session.h"

#include <limits>
#include <utility>

#include "analysis/model/row_store.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/select_rows.h"

namespace gpuprof::analysis {

Session::Session(std::shared_ptr<const Trace> trace, uint64_t most_row_bytes)
    : trace_(std::move(trace)),
      most_row_bytes_(most_row_bytes),
      processes_(trace_->processes.size()) {}

Session::Session(const Trace& trace)
    : Session(std::shared_ptr<const Trace>(std::shared_ptr<const Trace>(), &trace)) {}

Session::~Session() = default;

DerivedOfChoice& Session::OfChoice(const PassOptions& options) {
  return choices_.try_emplace({options.pid, options.step_marker}, trace_->processes.size())
      .first->second;
}

void Session::ForgetMuch() {
  uint64_t rows = 0;
  for (const Process& process : trace_->processes) rows += process.rows;
  RowStore* const store = trace_->row_store.get();
  const bool is_much = rows > kMostRows || (store != nullptr && store->bytes() > most_row_bytes_);
  if (is_much) {
    choices_.clear();
    processes_ = std::vector<DerivedOfProcess>(trace_->processes.size());
    part_ = {};
  }
  // What was derived may point to rows: without it, they can go.
  if (store != nullptr)
    store->LetGo(is_much ? most_row_bytes_ : std::numeric_limits<uint64_t>::max());
}

Error Session::Select(std::string_view pass, const PassOptions& options, Part** part) {
  *part = nullptr;
  Choice choice(options.window, options.steps, options.devices, options.pid, options.step_marker);
  if (part_.session != nullptr && choice == chosen_ && !IsRefused(pass, options)) {
    *part = &part_;
    return {};
  }
  std::shared_ptr<const Trace> rows;
  std::string words;
  if (Error error = SelectRows(pass, this, options, &rows, &words)) return error;
  if (rows == nullptr) return {};
  part_ = {std::make_unique<Session>(std::move(rows)), std::move(words)};
  part_.session->whole_ = trace_.get();
  chosen_ = std::move(choice);
  *part = &part_;
  return {};
}

std::shared_ptr<Session> MakeSession(std::shared_ptr<const Trace> trace) {
  return std::make_shared<Session>(std::move(trace));
}

}  // namespace gpuprof::analysis
