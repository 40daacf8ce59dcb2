// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of files. See text.h.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/files.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

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

}  // namespace

std::string FilesText(const results::Files& result, const TextOptions& options) {
  if (result.files().empty()) return Nothing(result) + MetaText(result.meta(), options);
  const bool by_thread = result.by() == "thread";
  const auto is_elsewhere = [&](const auto& row) { return row.host() != result.files(0).host(); };
  const bool has_hosts =
      !by_thread && std::any_of(result.files().begin(), result.files().end(), is_elsewhere);
  const Whose whose(result.files());
  TextTable table;
  table.AddColumn(by_thread ? "thread" : "file", Align::kLeft, true);
  if (by_thread) whose.AddColumns(&table);
  if (has_hosts) table.AddColumn("host", Align::kLeft);
  for (const char* header : {by_thread ? "files" : "threads", "reads", "bytes", "total", "share",
                             "of capture", "mean", "median", "max", "MB/s"})
    table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(result.files_size(), options); ++i) {
    const results::FileReads& f = result.files(i);
    std::vector<std::string> cells = {ShownName(f, options)};
    if (by_thread) whose.AddCells(f, &cells);
    if (has_hosts) cells.push_back(f.host());
    for (const std::string& cell :
         {FormatNumber(by_thread ? f.file_count() : f.thread_count()), FormatNumber(f.count()),
          FormatBytes(f.total_bytes()), FormatDuration(f.total_ns()),
          FormatPercent(f.total_ratio()), FormatPercent(f.captured_ratio()),
          FormatDuration(f.mean_ns()), FormatDuration(f.median_ns()), FormatDuration(f.max_ns()),
          f.has_mb_per_s() ? FormatReal(f.mb_per_s()) : std::string("-")})
      cells.push_back(cell);
    table.AddRow(std::move(cells));
  }
  return Section(Heading(result), table, options, result.files_size()) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
