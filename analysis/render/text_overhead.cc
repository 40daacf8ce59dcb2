// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of overhead. See text.h.

#include <string>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/overhead.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

std::string OverheadText(const results::Overheads& result, const TextOptions& options) {
  if (result.overheads().empty())
    return "No overhead of CUDA or CUPTI was recorded.\n" + MetaText(result.meta(), options);
  TextTable table;
  table.AddColumn(result.by() == "thread" ? "thread" : "kind", Align::kLeft, true);
  table.AddColumn("of", Align::kLeft);
  for (const char* header : {"count", "total", "mean", "max", "longest at"})
    table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(result.overheads_size(), options); ++i) {
    const results::Overhead& o = result.overheads(i);
    table.AddRow({o.name(), o.is_recorder() ? "CUPTI" : "CUDA", FormatNumber(o.count()),
                  FormatDuration(o.total_ns()), FormatDuration(o.mean_ns()),
                  FormatDuration(o.max_ns()), FormatDuration(o.max_start_ns())});
  }
  const std::string heading = "CUDA spent " + FormatDuration(result.cuda_ns()) +
                              " on compiling, loading and waiting for room; CUPTI " +
                              FormatDuration(result.cupti_ns()) +
                              " on the recording; overlapping times count in each";
  return Section(heading, table, options, result.overheads_size()) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
