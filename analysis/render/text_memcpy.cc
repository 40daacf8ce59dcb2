// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of memcpy. See text.h.

#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/memcpy.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

std::string MemcpyText(const results::Memcpy& result, const TextOptions& options) {
  if (result.copies().empty())
    return "No copy or memset was recorded.\n" + MetaText(result.meta(), options);
  TextTable table;
  table.AddColumn(result.by(), Align::kLeft, true);
  if (result.by() == "direction") table.AddColumn("memory", Align::kLeft);
  const Whose whose(result.copies());
  whose.AddColumns(&table);
  for (const char* header :
       {"count", "async", "bytes", "total", "share", "mean", "min", "max", "GB/s"})
    table.AddColumn(header, Align::kRight);
  if (result.by() == "direction") table.AddColumn("of limit", Align::kRight);
  table.AddColumn("device", Align::kRight);
  for (int i = 0; i < Shown(result.copies_size(), options); ++i) {
    const results::Copies& c = result.copies(i);
    std::vector<std::string> cells = {c.name()};
    if (result.by() == "direction")
      cells.push_back(c.has_source() ? c.source() + " to " + c.destination() : c.destination());
    whose.AddCells(c, &cells);
    for (const std::string& cell :
         {FormatNumber(c.count()), FormatNumber(c.async_count()),
          c.has_total_bytes() ? FormatBytes(c.total_bytes()) : std::string("-"),
          FormatDuration(c.total_ns()), FormatPercent(c.total_ratio()), FormatDuration(c.mean_ns()),
          FormatDuration(c.min_ns()), FormatDuration(c.max_ns()),
          c.total_ns() > 0 && c.has_gb_per_s() ? FormatReal(c.gb_per_s()) : std::string("-")})
      cells.push_back(cell);
    if (result.by() == "direction")
      cells.push_back(c.has_limit_ratio() ? FormatPercent(c.limit_ratio()) : "-");
    cells.push_back(std::to_string(c.device()));
    table.AddRow(std::move(cells));
  }
  const std::string heading = FormatNumber(result.count()) + " copies and memsets, " +
                              (result.has_total_bytes() ? FormatBytes(result.total_bytes())
                                                        : "an unknown number of bytes") +
                              " in " + FormatDuration(result.total_ns()) + ", " +
                              FormatDuration(result.exposed_ns()) + " of this while no kernel ran";
  return Section(heading, table, options, result.copies_size()) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
