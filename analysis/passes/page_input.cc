// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/page_input.h"

#include <google/protobuf/message.h>

#include <utility>

#include "analysis/model/row_store.h"
#include "analysis/passes/registry.h"
#include "analysis/passes/session.h"

namespace gpuprof::analysis {
namespace {

// Sets what the files hold, in words that change when a recording goes on. Returns their rows.
uint64_t StateOf(const Trace& headers, std::string* state) {
  uint64_t rows = 0;
  for (const auto* processes : {&headers.processes, &headers.samplers}) {
    for (const Process& process : *processes) {
      rows += process.rows;
      *state += process.file + " " + std::to_string(process.rows) + " " +
                std::to_string(process.file_bytes) + " " + std::to_string(process.alive) + "\n";
    }
  }
  return rows;
}

}  // namespace

Session* PageInput::Kept(const Trace& headers) {
  std::string state;
  const uint64_t rows = StateOf(headers, &state);
  if (state != state_) {
    session_ = nullptr;  // its memory goes before the new one's comes
    eager_ = {};
    is_damaged_ = false;
  }
  if (session_ != nullptr) return session_.get();
  const bool is_large = rows > most_rows_;
  const bool can_be_lazy = !is_damaged_ && headers.importer.empty();
  if (!headers.faults.empty() || is_damaged_ || (is_large && !can_be_lazy)) return nullptr;
  OpenOptions open = options_;
  open.tables = TableSet::All();
  open.lazy = can_be_lazy && (is_large || options_.lazy);
  open.eager = eager_;
  std::shared_ptr<const Trace> trace;
  if (Open(path_, open, &trace) || !trace->faults.empty()) return nullptr;
  // It may have grown since the headers were read.
  state_.clear();
  StateOf(*trace, &state_);
  session_ = MakeSession(std::move(trace));
  return session_.get();
}

bool PageInput::IsRight() {
  const RowStore* const rows = session_->trace().row_store.get();
  if (rows == nullptr) return true;
  const TableSet unordered = rows->Unordered();
  if (!rows->IsDamaged() && eager_.Contains(unordered)) return true;
  is_damaged_ = rows->IsDamaged();
  eager_ = eager_ | unordered;
  session_ = nullptr;
  return false;
}

Error PageInput::RunOnce(std::string_view pass, const PassOptions& options,
                         std::unique_ptr<google::protobuf::Message>* result) {
  OpenOptions open = options_;
  open.tables = TablesOf(pass, options);
  open.sums_above_rows = PageSumsAbove(pass, options);
  std::shared_ptr<const Trace> trace;
  if (Error error = Open(path_, open, &trace)) return error;
  return analysis::Run(pass, *trace, options, result);
}

Error PageInput::ReadHeaders(std::shared_ptr<const Trace>* headers) const {
  OpenOptions open = options_;
  open.headers_only = true;
  return Open(path_, open, headers);
}

Error PageInput::Run(std::string_view pass, PassOptions options,
                     std::unique_ptr<google::protobuf::Message>* result) {
  std::shared_ptr<const Trace> headers;
  if (Error error = ReadHeaders(&headers)) return error;
  if (std::string reason = TooManyRows(pass, *headers, options); !reason.empty())
    return {ErrorKind::kUsage, std::move(reason)};
  options.left_out = TooLargeTables(pass, *headers, options);
  const bool is_reduced =
      options.left_out.Intersects(TableSet::All()) || HasPageSums(pass, *headers, options);
  while (Session* session = is_reduced ? nullptr : Kept(*headers)) {
    Error error = analysis::Run(pass, session, options, result);
    if (IsRight()) return error;
  }
  return RunOnce(pass, options, result);
}

std::shared_ptr<PageInput> MakePageInput(InputPath path, OpenOptions options) {
  return std::make_shared<PageInput>(std::move(path), std::move(options));
}

Error RunForPage(PageInput* input, std::string_view pass, const PassOptions& options,
                 std::unique_ptr<google::protobuf::Message>* result) {
  return input->Run(pass, options, result);
}

}  // namespace gpuprof::analysis
