// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of memcpy. See text.h.

#include <string>

#include "analysis/base/enum_word.h"
#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/memcpy.pb.h"

namespace gpuprof::analysis {

namespace {

std::string MemoryWords(const results::Copies& c) {
  if (!c.has_destination()) return "";
  return (c.has_source() ? WordOf(c.source()) + " to " : "") + WordOf(c.destination());
}

constexpr TableColumn kColumns[] = {
    {.field = "name", .title = "direction", .flexible = true, .only_by = "direction"},
    {.field = "name", .title = "stream", .flexible = true, .only_by = "stream"},
    {.field = "name", .title = "size", .flexible = true, .only_by = "size"},
    {.field = "destination",
     .title = "memory",
     .cell = CellOf<results::Copies, MemoryWords>,
     .only_by = "direction",
     .on_page = OnPage::kAbsent},
    {.field = "source", .title = "from", .only_by = "direction", .in_text = false},
    {.field = "destination", .title = "to", .only_by = "direction", .in_text = false},
    kWhosePid,
    kWhoseContext,
    {.field = "count", .title = "count"},
    {.field = "async_count",
     .title = "async",
     .tip = "Made by a call that does not wait for the copy",
     .on_page = OnPage::kIfWide},
    {.field = "graph_count", .title = "in graphs", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "total_bytes", .title = "bytes", .blank = "-"},
    {.field = "total_ns", .title = "total"},
    {.field = "total_ratio", .title = "share"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "min_ns", .title = "min", .on_page = OnPage::kIfWide},
    {.field = "max_ns", .title = "max"},
    {.field = "gb_per_s", .title = "GB/s", .needs = "total_ns", .blank = "-"},
    {.field = "limit_gb_per_s",
     .title = "limit",
     .only_by = "direction",
     .tip = "The fastest that the way can be",
     .scale = {"GB/s", 1, 1},
     .in_text = false},
    {.field = "limit_ratio", .title = "of limit", .blank = "-", .only_by = "direction"},
    {.field = "device", .title = "device", .on_page = OnPage::kOffered},
    {.field = "stream",
     .title = "stream",
     .except_by = "stream",
     .on_page = OnPage::kOffered,
     .in_text = false},
};
constexpr TableLayout kLayouts[] = {{.rows = "copies",
                                     .row = results::Copies::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "total_ns",
                                     .noun = "copy"}};

}  // namespace

std::span<const TableLayout> MemcpyLayouts() { return kLayouts; }

std::string MemcpyText(const results::Memcpy& result, const TextOptions& options) {
  if (result.copies().empty())
    return "No copy or memset was recorded.\n" + MetaText(result.meta(), options);
  const std::string heading = FormatNumber(result.count()) + " copies and memsets, " +
                              (result.has_total_bytes() ? FormatBytes(result.total_bytes())
                                                        : "an unknown number of bytes") +
                              " in " + FormatDuration(result.total_ns()) + ", " +
                              FormatDuration(result.exposed_ns()) + " of this while no kernel ran";
  return TableText(heading, kLayouts[0], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
