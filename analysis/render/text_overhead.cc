// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of overhead. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/overhead.pb.h"

namespace gpuprof::analysis {

namespace {

std::string OwnerWords(const results::Overhead& o) { return o.is_recorder() ? "CUPTI" : "CUDA"; }

constexpr TableColumn kColumns[] = {
    {.field = "name", .title = "kind", .flexible = true, .except_by = "thread"},
    {.field = "name", .title = "thread", .flexible = true, .only_by = "thread"},
    {.field = "is_recorder",
     .title = "of",
     .cell = CellOf<results::Overhead, OwnerWords>,
     .on_page = OnPage::kAbsent},
    {.field = "is_recorder", .title = "of CUPTI", .in_text = false},
    {.field = "count", .title = "count"},
    {.field = "total_ns", .title = "total"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "max_ns", .title = "max"},
    {.field = "max_start_ns", .title = "longest at", .scale = kMilliseconds},
};
constexpr TableLayout kLayouts[] = {{.rows = "overheads",
                                     .row = results::Overhead::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "total_ns",
                                     .noun = "kind"}};

}  // namespace

std::span<const TableLayout> OverheadLayouts() { return kLayouts; }

std::string OverheadText(const results::Overheads& result, const TextOptions& options) {
  if (result.overheads().empty())
    return "No overhead of CUDA or CUPTI was recorded.\n" + MetaText(result.meta(), options);
  const std::string heading = "CUDA spent " + FormatDuration(result.cuda_ns()) +
                              " on compiling, loading and waiting for room; CUPTI " +
                              FormatDuration(result.cupti_ns()) +
                              " on the recording; overlapping times count in each";
  return TableText(heading, kLayouts[0], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
