// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of files. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/files.pb.h"

namespace gpuprof::analysis {

namespace {

std::string Plural(uint64_t count, const std::string& one) {
  return FormatNumber(count) + " " + one + (count == 1 ? "" : "s");
}

std::string Heading(const results::Files& result) {
  std::string text = Plural(result.count(), "read") + " of " + Plural(result.file_count(), "file") +
                     " by " + Plural(result.thread_count(), "thread") + ": " +
                     FormatBytes(result.total_bytes()) + " in " + FormatDuration(result.total_ns());
  if (result.failed_count() != 0) text += "; " + FormatNumber(result.failed_count()) + " failed";
  return text;
}

std::string Nothing(const results::Files& result) {
  if (result.meta().skipped().empty()) return "The program read no file.\n";
  return "Reads of files were not recorded. To record them: " + result.meta().skipped(0).fix() +
         "\n";
}

constexpr TableColumn kColumns[] = {
    {.field = "name", .title = "file", .flexible = true, .except_by = "thread"},
    {.field = "name", .title = "thread", .flexible = true, .only_by = "thread"},
    {.field = "pid", .title = "pid", .shown = ShownIf::kDifferent, .only_by = "thread"},
    {.field = "tid", .title = "tid", .shown = ShownIf::kAny, .only_by = "thread"},
    {.field = "host", .title = "host", .shown = ShownIf::kDifferent, .except_by = "thread"},
    {.field = "thread_count",
     .title = "threads",
     .except_by = "thread",
     .on_page = OnPage::kOffered},
    {.field = "file_count", .title = "files", .only_by = "thread"},
    {.field = "count", .title = "reads"},
    {.field = "total_bytes", .title = "bytes"},
    {.field = "total_ns", .title = "total"},
    {.field = "total_ratio", .title = "share"},
    {.field = "captured_ratio",
     .title = "of capture",
     .tip = "A part of the captured time. Several threads together can have more than 100 %"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "median_ns", .title = "median"},
    {.field = "max_ns", .title = "max"},
    {.field = "mb_per_s", .title = "MB/s", .blank = "-", .scale = kTenths},
    {.field = "failed_count", .title = "failed", .in_text = false},
};
constexpr TableLayout kLayouts[] = {{.rows = "files",
                                     .row = results::FileReads::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "total_ns"}};

}  // namespace

std::span<const TableLayout> FilesLayouts() { return kLayouts; }

std::string FilesText(const results::Files& result, const TextOptions& options) {
  if (result.files().empty()) return Nothing(result) + MetaText(result.meta(), options);
  return TableText(Heading(result), kLayouts[0], result, options) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
