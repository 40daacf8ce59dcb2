// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_need.h.

#include "analysis/passes/page_need.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "analysis/base/memory_limit.h"
#include "analysis/model/trace.h"
#include "analysis/model/work_summary.h"
#include "analysis/passes/page_input.h"
#include "analysis/passes/registry.h"
#include "analysis/read/work_sums.h"
#include "analysis/steps/step_marks.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

struct PassCost {
  std::string_view pass;
  double bytes, ns;  // of a row
};

// Peaks of memory and times of `gpuprof stats PASS`, divided by the rows of TablesOf, rounded up.
// They were measured with the bundles of tests/bench/make_bundle.cc (12 million rows of training,
// 16 million of kernels, 12 million of heap), the larger figure counts. Times are two thirds of the
// processor time: two processors read, and one adds up. The first line is for all other passes.
constexpr PassCost kCosts[] = {
    {"", 120, 300},
    {"overview", 160, 650},
    {"advise", 160, 650},
    {"steps", 80, 220},
    {"ops", 55, 190},
    {"ops:module", 80, 850},
    {"kernels", 25, 40},
    {"kernels:op", 55, 200},
    {"memcpy", 30, 40},
    {"api", 30, 50},
    {"sync", 25, 30},
    {"streams", 110, 300},
    {"idle", 140, 300},
    {"critical_path", 280, 350},
    {"overlap", 130, 220},
    {"graphs", 25, 30},
    {"heap", 20, 50},
    {"threads", 100, 250},
    {"stacks:kernel", 25, 30},
    {"health", 25, 40},
};

// What a process takes without a row.
constexpr uint64_t kLeastBytes = 32 << 20;
constexpr double kLeastSeconds = 0.1;

const PassCost* FindCost(std::string_view pass) {
  return std::find_if(std::begin(kCosts), std::end(kCosts),
                      [&](const PassCost& each) { return each.pass == pass; });
}

const PassCost& CostOf(std::string_view pass, const PassOptions& options) {
  const PassCost* found = FindCost(std::string(pass) + ":" + options.by);
  if (found == std::end(kCosts)) found = FindCost(pass);
  return found == std::end(kCosts) ? kCosts[0] : *found;
}

bool IsSummed(const Trace& trace, std::string_view pass, const PassOptions& options) {
  const uint64_t above = SumsAbove(pass, options);
  if (above == 0) return false;
  uint64_t work = 0;
  for (const Process& process : trace.processes) {
    for (const KindTotals& totals : process.kinds)
      if (proto::IsSummedWork(static_cast<proto::ChunkKind>(totals.kind))) work += totals.rows;
  }
  return work > above;
}

}  // namespace

uint64_t RowsIn(const Trace& trace, const TableSet& tables) {
  uint64_t rows = 0;
  for (const Process& process : trace.processes) {
    for (const KindTotals& totals : process.kinds)
      if (tables.Has(static_cast<proto::ChunkKind>(totals.kind))) rows += totals.rows;
  }
  return rows;
}

PageNeed NeedOf(const Trace& trace, std::string_view pass, const PassOptions& options) {
  PageNeed need;
  TableSet tables = TablesOf(pass, options);
  if (IsSummed(trace, pass, options)) tables = tables.Without(SummableTables());
  need.rows = RowsIn(trace, tables);
  for (const Process& process : trace.processes) need.recording_rows += process.rows;
  // RunForPage reads rows of a part alone. Which part it is, the steps tell.
  const uint64_t rows_at_once = options.window  ? 0
                                : options.steps ? RowsIn(trace, TablesOf("steps"))
                                                : need.rows;
  const PassCost& cost = CostOf(pass, options);
  const auto bytes_of = [&](uint64_t rows) {
    return static_cast<uint64_t>(static_cast<double>(rows) * cost.bytes);
  };
  need.memory_bytes = kLeastBytes + bytes_of(need.rows);
  need.bytes_at_once = bytes_of(rows_at_once);
  need.seconds = kLeastSeconds + static_cast<double>(need.rows) * cost.ns / 1e9;
  need.has_less = PageSumsAbove(pass, options) != 0;
  return need;
}

Error NeedOfPage(const PageInput& input, std::string_view pass, const PassOptions& options,
                 PageNeed* need) {
  std::shared_ptr<const Trace> headers;
  if (Error error = input.ReadHeaders(&headers)) return error;
  *need = NeedOf(*headers, pass, options);
  return {};
}

Error RunOnAll(const InputPath& path, OpenOptions open, std::string_view pass,
               const PassOptions& options, std::unique_ptr<google::protobuf::Message>* result) {
  open.tables = TablesOf(pass, options);
  open.sums_above_rows = SumsAbove(pass, options);
  std::shared_ptr<const Trace> trace;
  if (Error error = Open(path, open, &trace)) return error;
  return Run(pass, *trace, options, result);
}

Error PackedSteps(const InputPath& path, OpenOptions open, std::string* packed) {
  open.tables = TablesOf("steps");
  std::shared_ptr<const Trace> trace;
  if (Error error = Open(path, open, &trace)) return error;
  *packed = PackStepMarks(FindStepMarks(*trace));
  return {};
}

bool HasMemorySnapshot(const Trace& trace) {
  return std::any_of(trace.processes.begin(), trace.processes.end(),
                     [](const Process& process) { return process.memory_snapshot != nullptr; });
}

uint64_t FreeMemory() { return RoomInMemory(); }

}  // namespace gpuprof::analysis
