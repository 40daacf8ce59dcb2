// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of sync. See text.h.

#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/sync.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

std::string SyncText(const results::Syncs& result, const TextOptions& options) {
  if (result.syncs().empty())
    return "No wait for the GPU was recorded.\n" + MetaText(result.meta(), options);
  TextTable table;
  const bool by_kind = result.by() == "kind";
  table.AddColumn(result.by() == "thread" ? "thread" : "wait for", Align::kLeft, true);
  if (by_kind) table.AddColumn("call", Align::kLeft);
  const Whose whose(result.syncs());
  whose.AddColumns(&table);
  for (const char* header : {"count", "short", "total", "share", "mean", "median", "max"})
    table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(result.syncs_size(), options); ++i) {
    const results::Sync& s = result.syncs(i);
    std::vector<std::string> cells = {s.name()};
    if (by_kind) cells.push_back(s.has_function() ? s.function() : "-");
    whose.AddCells(s, &cells);
    for (const std::string& cell :
         {FormatNumber(s.count()), FormatNumber(s.short_count()), FormatDuration(s.total_ns()),
          s.name() == "stream_wait" ? std::string("-") : FormatPercent(s.total_ratio()),
          FormatDuration(s.mean_ns()), FormatDuration(s.median_ns()), FormatDuration(s.max_ns())})
      cells.push_back(cell);
    table.AddRow(std::move(cells));
  }
  const std::string heading =
      FormatNumber(result.count()) + " waits; the program's threads waited for " +
      FormatDuration(result.host_ns()) + ", at most for " + FormatDuration(result.host_max_ns());
  return Section(heading, table, options, result.syncs_size()) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
