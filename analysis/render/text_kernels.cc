// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of kernels. See text.h.

#include "analysis/render/figures.h"
#include "analysis/render/text.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

std::string KernelsText(const results::Kernels& result, const TextOptions& options) {
  if (result.kernels().empty())
    return "No kernel was recorded.\n" + MetaText(result.meta(), options);
  TextTable table;
  table.AddColumn(result.by() == "stream" ? "stream" : "kernel", Align::kLeft, true);
  for (const char* header : {"count", "total", "share", "mean", "median", "min", "max"})
    table.AddColumn(header, Align::kRight);
  table.AddColumn("grid", Align::kLeft);
  table.AddColumn("block", Align::kLeft);
  for (int i = 0; i < Shown(result.kernels_size(), options); ++i) {
    const results::Kernel& k = result.kernels(i);
    table.AddRow(
        {k.name(), FormatNumber(k.count()), FormatDuration(k.total_ns()),
         FormatPercent(k.total_ratio()), FormatDuration(k.mean_ns()), FormatDuration(k.median_ns()),
         FormatDuration(k.min_ns()), FormatDuration(k.max_ns()),
         k.has_grid() ? k.grid() : std::to_string(k.signature_count()) + " different", k.block()});
  }
  const std::string heading = FormatNumber(result.count()) + " kernels, " +
                              FormatDuration(result.total_ns()) + " of kernel time, GPU busy " +
                              FormatDuration(result.busy_ns());
  return Section(heading, table, options, result.kernels_size()) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
