// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rows that a pass needs, and how many of them are too many. See passes.h and registry.h.

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/model/work_summary.h"
#include "analysis/passes/page_need.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/registry.h"
#include "analysis/passes/select_rows.h"
#include "analysis/read/work_sums.h"

namespace gpuprof::analysis {
namespace {

using Kind = proto::ChunkKind;

// Names of threads, streams and processes come from these rows.
const TableSet kAlways = {Kind::kThreadEvent, Kind::kProcessEvent, Kind::kRange,
                          Kind::kRangePayload, Kind::kRowDetail};
// What steps are found by.
const TableSet kStepRows = {Kind::kOp, Kind::kWait};

// Sums are of the whole recording.
bool IsOfAll(const PassOptions& options) {
  return options.pid == 0 && !options.window && !options.steps && options.devices.empty() &&
         options.under_range.empty();
}

}  // namespace

TableSet TablesOf(std::string_view pass, const PassOptions& options) {
  const PassEntry* entry = FindPass(pass);
  if (entry == nullptr) return TableSet::All();
  // The events of a thread: headers count those of the whole recording, but not those of a part.
  if (pass == "threads" && (options.window || options.steps || !options.devices.empty()))
    return TableSet::All();
  TableSet tables = entry->tables | entry->also | kAlways;
  // Whether a call is inside a range or a step, its time tells.
  if (!options.under_range.empty() || options.steps) tables = tables | TableSet{Kind::kApi};
  // A step ends with the last work that it launched.
  if (options.steps) {
    tables = tables | kStepRows |
             TableSet{Kind::kKernel, Kind::kMemcpy, Kind::kMemset, Kind::kGraphLaunch};
  }
  if (pass == "ops" && (options.by == "module" || options.by == "instance"))
    tables = tables | TableSet{Kind::kPython};
  const bool is_by_owner = pass == "graphs" && options.by == "owner";
  if (is_by_owner) tables = tables | TableSet::CallIds();
  if (is_by_owner || (pass == "kernels" && options.by == "op"))
    tables = tables | kStepRows | TableSet{Kind::kApi, Kind::kLaunch};
  return tables.Without(options.left_out);
}

TableSet TooLargeTables(std::string_view pass, const Trace& trace, const PassOptions& options) {
  TableSet large;
  if (PageSumsAbove(pass, options) == 0) return large;
  std::map<Kind, uint64_t> rows;
  uint64_t all = 0, work = 0;
  for (const Process& process : trace.processes) {
    for (const KindTotals& totals : process.kinds) {
      const Kind kind = static_cast<Kind>(totals.kind);
      rows[kind] += totals.rows;
      if (proto::IsSummedWork(kind)) work += totals.rows;
    }
  }
  // The largest first, until the others are few enough. What is summed has no rows.
  const bool has_sums = work > kMostWorkRows;
  std::vector<std::pair<uint64_t, Kind>> largest;
  for (const auto& [kind, count] : rows) {
    if (!TablesOf(pass, options).Has(kind) || (has_sums && SummableTables().Has(kind))) continue;
    largest.emplace_back(count, kind);
    all += count;
  }
  std::sort(largest.rbegin(), largest.rend());
  for (const auto& [count, kind] : largest) {
    if (all <= kMostWorkRows) break;
    large = large | TableSet{kind};
    all -= count;
  }
  return large;
}

uint64_t SumsAbove(std::string_view pass, const PassOptions& options) {
  return IsOfAll(options) && (pass == "overview" || pass == "advise") ? kMostWorkRows : 0;
}

uint64_t PageSumsAbove(std::string_view pass, const PassOptions& options) {
  const bool is_of_rows = options.by == "op" || !IsOfAll(options);
  return pass == "kernels" && !is_of_rows ? kMostWorkRows : SumsAbove(pass, options);
}

bool HasPageSums(std::string_view pass, const Trace& trace, const PassOptions& options) {
  const uint64_t most = PageSumsAbove(pass, options);
  uint64_t work = 0;
  for (const Process& process : trace.processes) {
    for (const KindTotals& totals : process.kinds)
      if (proto::IsSummedWork(static_cast<Kind>(totals.kind))) work += totals.rows;
  }
  return most != 0 && work > most;
}

std::string TooManyRows(std::string_view pass, const Trace& trace, const PassOptions& options) {
  // The first page must always be there.
  if (PageSumsAbove(pass, options) != 0) return "";
  // Only the rows of the part are read. Which part it is, the steps tell.
  if (options.window) return "";
  const TableSet wanted = options.steps ? TablesOf("steps") : TablesOf(pass, options);
  const uint64_t rows = RowsIn(trace, wanted);
  if (rows <= kMostWorkRows) return "";
  return "The recording has " + FormatNumber(rows) +
         " rows that this page needs. That is too much for a page. This command reads all of "
         "them: " +
         CommandOf(pass, options);
}

}  // namespace gpuprof::analysis
