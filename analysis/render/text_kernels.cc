// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of kernels. See text.h.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

std::string KernelsText(const results::Kernels& result, const TextOptions& options) {
  if (result.kernels().empty())
    return (result.has_under_nvtx() ? "No kernel was launched under " + result.under_nvtx() + ".\n"
                                    : "No kernel was recorded.\n") +
           MetaText(result.meta(), options);
  TextTable table;
  const bool several = std::any_of(
      result.kernels().begin(), result.kernels().end(),
      [&](const results::Kernel& k) { return k.device() != result.kernels(0).device(); });
  table.AddColumn(result.by() == "stream" ? "stream" : "kernel", Align::kLeft, true);
  for (const char* header : {"count", "total", "share", "mean", "median", "min", "max"})
    table.AddColumn(header, Align::kRight);
  if (several) table.AddColumn("device", Align::kRight);
  table.AddColumn("grid", Align::kLeft);
  table.AddColumn("block", Align::kLeft);
  for (int i = 0; i < Shown(result.kernels_size(), options); ++i) {
    const results::Kernel& k = result.kernels(i);
    std::vector<std::string> cells = {k.name(),
                                      FormatNumber(k.count()),
                                      FormatDuration(k.total_ns()),
                                      FormatPercent(k.total_ratio()),
                                      FormatDuration(k.mean_ns()),
                                      FormatDuration(k.median_ns()),
                                      FormatDuration(k.min_ns()),
                                      FormatDuration(k.max_ns())};
    if (several) cells.push_back(std::to_string(k.device()));
    cells.push_back(k.has_grid() ? k.grid() : std::to_string(k.signature_count()) + " different");
    cells.push_back(k.block());
    table.AddRow(std::move(cells));
  }
  const std::string heading = FormatNumber(result.count()) + " kernels, " +
                              FormatDuration(result.total_ns()) + " of kernel time, GPU busy " +
                              FormatDuration(result.busy_ns()) +
                              (result.has_under_nvtx() ? ", under " + result.under_nvtx() : "");
  return Section(heading, table, options, result.kernels_size()) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
