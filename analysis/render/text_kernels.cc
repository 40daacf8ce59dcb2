// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of kernels. See text.h.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/kernels.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

namespace {

std::string TensorCoresText(const results::Kernels& result) {
  if (result.tensor_cores_ns() == 0 || result.total_ns() == 0) return "";
  const auto share = [&](int64_t ns) {
    return FormatPercent(static_cast<double>(ns) / static_cast<double>(result.total_ns()));
  };
  std::string text = ", " + share(result.tensor_cores_ns()) + " with tensor cores";
  if (result.tensor_cores_unknown_ns() != 0)
    text += " (" + share(result.tensor_cores_unknown_ns()) + " not known)";
  return text;
}

}  // namespace

std::string KernelsText(const results::Kernels& result, const TextOptions& options) {
  if (result.kernels().empty())
    return (result.has_under_range()
                ? "No kernel was launched under " + result.under_range() + ".\n"
                : "No kernel was recorded.\n") +
           MetaText(result.meta(), options);
  TextTable table;
  const bool several = std::any_of(
      result.kernels().begin(), result.kernels().end(),
      [&](const results::Kernel& k) { return k.device() != result.kernels(0).device(); });
  const Whose whose(result.kernels());
  table.AddColumn(result.by() == "stream" ? "stream" : "kernel", Align::kLeft, true);
  const bool is_by_op = result.by() == "op";
  const bool has_sites = std::any_of(result.kernels().begin(), result.kernels().end(),
                                     [](const auto& k) { return k.has_launched_by(); });
  const bool has_steps = std::any_of(result.kernels().begin(), result.kernels().end(),
                                     [](const auto& k) { return k.has_count_per_step(); });
  if (is_by_op) table.AddColumn("operation", Align::kLeft, true);
  if (has_sites) table.AddColumn("launched by", Align::kLeft, true);
  whose.AddColumns(&table);
  for (const char* header : {"count", "total", "share", "mean", "median", "min", "max"})
    table.AddColumn(header, Align::kRight);
  if (has_steps) table.AddColumn("a step", Align::kRight);
  if (several) table.AddColumn("device", Align::kRight);
  const bool has_occupancy = std::any_of(result.kernels().begin(), result.kernels().end(),
                                         [](const auto& k) { return k.has_occupancy_ratio(); });
  if (has_occupancy) {
    table.AddColumn("occupancy", Align::kRight);
    table.AddColumn("limit", Align::kLeft);
    table.AddColumn("waves", Align::kRight);
  }
  if (result.by() != "stream") table.AddColumn("tensor cores", Align::kLeft);
  if (!is_by_op) {
    table.AddColumn("grid", Align::kLeft);
    table.AddColumn("block", Align::kLeft);
  }
  for (int i = 0; i < Shown(result.kernels_size(), options); ++i) {
    const results::Kernel& k = result.kernels(i);
    std::vector<std::string> cells = {ShownName(k, options)};
    if (is_by_op) cells.push_back(k.has_op() ? k.op() : "(none)");
    if (has_sites) cells.push_back(k.launched_by());
    whose.AddCells(k, &cells);
    for (const std::string& cell :
         {FormatNumber(k.count()), FormatDuration(k.total_ns()), FormatPercent(k.total_ratio()),
          FormatDuration(k.mean_ns()), FormatDuration(k.median_ns()), FormatDuration(k.min_ns()),
          FormatDuration(k.max_ns())})
      cells.push_back(cell);
    if (has_steps) cells.push_back(k.has_count_per_step() ? FormatReal(k.count_per_step()) : "");
    if (several) cells.push_back(std::to_string(k.device()));
    if (has_occupancy) {
      cells.push_back(k.has_occupancy_ratio() ? FormatPercent(k.occupancy_ratio()) : "");
      cells.push_back(k.occupancy_limit());
      cells.push_back(k.has_wave_count() ? FormatReal(k.wave_count()) : "");
    }
    if (result.by() != "stream") {
      const std::string input = k.tensor_cores_input();
      cells.push_back(k.tensor_cores() + (input.empty() ? "" : ", " + input));
    }
    if (!is_by_op) {
      cells.push_back(k.has_grid() ? k.grid() : std::to_string(k.signature_count()) + " different");
      cells.push_back(k.block());
    }
    table.AddRow(std::move(cells));
  }
  const std::string heading = FormatNumber(result.count()) + " kernels, " +
                              FormatDuration(result.total_ns()) + " of kernel time, GPU busy " +
                              FormatDuration(result.busy_ns()) + TensorCoresText(result) +
                              (result.has_under_range() ? ", under " + result.under_range() : "");
  return Section(heading, table, options, result.kernels_size()) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
