// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of sync. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/sync.pb.h"

namespace gpuprof::analysis {

namespace {

// Waits of streams are no part of the time that the shares are of.
std::string ShareWords(const results::Sync& s) {
  return s.name() == "stream_wait" ? "-" : FormatPercent(s.total_ratio());
}

constexpr TableColumn kColumns[] = {
    {.field = "name", .title = "wait for", .flexible = true, .only_by = "kind stream"},
    {.field = "name", .title = "thread", .flexible = true, .only_by = "thread"},
    {.field = "function", .title = "call", .blank = "-", .only_by = "kind"},
    kWhosePid,
    kWhoseTid,
    kWhoseContext,
    {.field = "count", .title = "count"},
    {.field = "short_count",
     .title = "short",
     .tip = "Shorter than 10 \u00b5s: nothing was left to wait for"},
    {.field = "total_ns", .title = "total"},
    {.field = "total_ratio", .title = "share", .cell = CellOf<results::Sync, ShareWords>},
    {.field = "mean_ns", .title = "mean"},
    {.field = "median_ns", .title = "median"},
    {.field = "max_ns", .title = "max"},
    {.field = "device", .title = "device", .in_text = false},
    {.field = "stream", .title = "stream", .in_text = false},
};
constexpr TableLayout kLayouts[] = {{.rows = "syncs",
                                     .row = results::Sync::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "total_ns",
                                     .noun = "wait"}};

}  // namespace

std::span<const TableLayout> SyncLayouts() { return kLayouts; }

std::string SyncText(const results::Syncs& result, const TextOptions& options) {
  if (result.syncs().empty())
    return "No wait for the GPU was recorded.\n" + MetaText(result.meta(), options);
  const std::string heading =
      FormatNumber(result.count()) + " waits; the program's threads waited for " +
      FormatDuration(result.host_ns()) + ", at most for " + FormatDuration(result.host_max_ns());
  return TableText(heading, kLayouts[0], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
