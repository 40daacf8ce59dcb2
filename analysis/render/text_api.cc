// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of api. See text.h.

#include <string>
#include <utility>
#include <vector>

#include "analysis/base/cuda_errors.h"
#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/api.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

std::string ApiText(const results::ApiCalls& result, const TextOptions& options) {
  if (result.calls().empty())
    return "No CUDA call was recorded.\n" + MetaText(result.meta(), options);
  TextTable table;
  table.AddColumn(result.by(), Align::kLeft, true);
  const Whose whose(result.calls());
  whose.AddColumns(&table);
  for (const char* header :
       {"count", "total", "share", "mean", "median", "min", "max", "GPU work", "delay", "errors"})
    table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(result.calls_size(), options); ++i) {
    const results::ApiCall& c = result.calls(i);
    const std::string errors =
        c.error_count() == 0
            ? "-"
            : FormatNumber(c.error_count()) + ", first: " + CudaErrorWords(c.first_error());
    std::vector<std::string> cells = {c.name()};
    whose.AddCells(c, &cells);
    const bool has_work = c.work_count() > 0;
    for (const std::string& cell :
         {FormatNumber(c.count()), FormatDuration(c.total_ns()), FormatPercent(c.total_ratio()),
          FormatDuration(c.mean_ns()), FormatDuration(c.median_ns()), FormatDuration(c.min_ns()),
          FormatDuration(c.max_ns()), std::string(has_work ? FormatNumber(c.work_count()) : "-"),
          std::string(has_work ? FormatDuration(c.mean_delay_ns()) : "-"), errors})
      cells.push_back(cell);
    table.AddRow(std::move(cells));
  }
  const std::string heading = FormatNumber(result.count()) + " CUDA calls, " +
                              FormatDuration(result.total_ns()) + " in all threads";
  return Section(heading, table, options, result.calls_size()) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
