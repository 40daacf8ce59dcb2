// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of nvtx. See text.h.

#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

// "domain:message", as the name of a range in a named domain is usually written.
std::string NameOf(const results::NvtxRange& range, bool by_domain) {
  const std::string name =
      range.name().empty() ? (by_domain ? "(default)" : "(no name)") : range.name();
  return by_domain || range.domain().empty() ? name : range.domain() + ":" + name;
}

}  // namespace

std::string NvtxText(const results::Nvtx& result, const TextOptions& options) {
  if (result.ranges().empty())
    return "No range of NVTX or ITT was recorded.\n" + MetaText(result.meta(), options);
  const bool by_domain = result.by() == "domain";
  TextTable table;
  table.AddColumn(by_domain ? "domain" : "range", Align::kLeft, true);
  table.AddColumn("kind", Align::kLeft);
  for (const char* header : {"count", "total", "self", "mean", "median", "min", "max", "threads"})
    table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(result.ranges_size(), options); ++i) {
    const results::NvtxRange& range = result.ranges(i);
    std::vector<std::string> cells = {NameOf(range, by_domain), range.kind(),
                                      FormatNumber(range.count())};
    if (range.kind() == "mark") {
      cells.insert(cells.end(), 6, "");
    } else {
      cells.push_back(FormatDuration(range.total_ns()));
      cells.push_back(range.has_self_ns() ? FormatDuration(range.self_ns()) : "");
      for (const int64_t ns :
           {range.mean_ns(), range.median_ns(), range.min_ns(), range.max_ns()}) {
        cells.push_back(FormatDuration(ns));
      }
    }
    cells.push_back(std::to_string(range.thread_count()));
    table.AddRow(std::move(cells));
  }
  const std::string heading = FormatNumber(result.count()) + " ranges, " +
                              FormatNumber(result.mark_count()) +
                              (result.mark_count() == 1 ? " mark" : " marks");
  return Section(heading, table, options, result.ranges_size()) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
