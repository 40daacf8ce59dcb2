// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of api. See text.h.

#include <string>

#include "analysis/base/cuda_errors.h"
#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/api.pb.h"

namespace gpuprof::analysis {

namespace {

std::string ErrorWords(const results::ApiCall& c) {
  return FormatNumber(c.error_count()) + ", first: " + CudaErrorWords(c.first_error());
}

constexpr TableColumn kColumns[] = {
    {.field = "name", .title = "function", .flexible = true, .only_by = "function"},
    {.field = "name", .title = "thread", .flexible = true, .only_by = "thread"},
    kWhosePid,
    kWhoseTid,
    {.field = "count", .title = "count"},
    {.field = "total_ns", .title = "total"},
    {.field = "total_ratio", .title = "share"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "median_ns", .title = "median"},
    {.field = "min_ns", .title = "min", .on_page = OnPage::kOffered},
    {.field = "max_ns", .title = "max"},
    {.field = "work_count",
     .title = "GPU work",
     .needs = "work_count",
     .blank = "-",
     .tip = "Kernels, copies and memsets that these calls began"},
    {.field = "mean_delay_ns",
     .title = "delay",
     .needs = "work_count",
     .blank = "-",
     .tip = "Mean time from the begin of the call until the GPU began"},
    {.field = "error_count",
     .title = "errors",
     .cell = CellOf<results::ApiCall, ErrorWords>,
     .needs = "error_count",
     .blank = "-"},
    {.field = "first_error", .title = "first error", .needs = "error_count", .in_text = false},
    {.field = "domain",
     .title = "interface",
     .only_by = "function",
     .on_page = OnPage::kOffered,
     .in_text = false},
};
constexpr TableLayout kLayouts[] = {{.rows = "calls",
                                     .row = results::ApiCall::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "total_ns"}};

}  // namespace

std::span<const TableLayout> ApiLayouts() { return kLayouts; }

std::string ApiText(const results::ApiCalls& result, const TextOptions& options) {
  if (result.calls().empty())
    return "No CUDA call was recorded.\n" + MetaText(result.meta(), options);
  const std::string heading = FormatNumber(result.count()) + " CUDA calls, " +
                              FormatDuration(result.total_ns()) + " in all threads";
  return TableText(heading, kLayouts[0], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
