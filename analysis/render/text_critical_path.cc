// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of critical paths. See text.h.

#include <iterator>
#include <string>
#include <vector>

#include "analysis/render/breakdown_words.h"
#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/critical_path.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

namespace {

std::string WindowText(const results::CriticalPath& path) {
  const std::string pid = "pid " + std::to_string(path.pid()) + ", ";
  if (!path.has_first_step())
    return pid + "no steps were found: the whole recording, " + FormatDuration(path.duration_ns());
  const std::string first = std::to_string(path.first_step());
  const bool is_one = path.first_step() == path.last_step();
  return pid +
         (is_one ? "step " + first
                 : "steps " + first + " and " + std::to_string(path.last_step())) +
         ": " + FormatDuration(path.duration_ns());
}

std::string ShareName(const results::PathShare& share, const TextOptions& options) {
  constexpr const char* kKinds[] = {"",
                                    "",
                                    "copies",
                                    "whole graphs",
                                    "",
                                    "",
                                    "host, outside of operations",
                                    "on the way to the device",
                                    "waits of streams"};
  static_assert(std::size(kKinds) == results::PathShareKind_ARRAYSIZE);
  return share.name().empty() ? kKinds[share.kind()] : ShownName(share, options);
}

std::string SharesText(const results::CriticalPath& path, const TextOptions& options) {
  TextTable table;
  table.AddColumn("on the path", Align::kLeft, true);
  for (const char* header : {"time", "share", "pieces"}) table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(path.shares_size(), options); ++i) {
    const results::PathShare& share = path.shares(i);
    table.AddRow({ShareName(share, options), FormatDuration(share.total_ns()),
                  FormatPercent(share.total_ratio()), FormatNumber(share.count())});
  }
  return Section("What the end of the last step waited for", table, options, path.shares_size());
}

std::string WhatIfText(const results::CriticalPath& path, const TextOptions& options) {
  constexpr const char* kSubjects[] = {"",
                                       "kernels",
                                       "collectives",
                                       "copies and memsets",
                                       "the host, but launches and waits",
                                       "waits for data",
                                       "compiling and loading of code",
                                       "launches",
                                       "waits for the device",
                                       "the profiler"};
  static_assert(std::size(kSubjects) == results::WhatIfSubject_ARRAYSIZE);
  TextTable table;
  table.AddColumn("if this took no time", Align::kLeft);
  for (const char* header : {"time", "saved", "share"}) table.AddColumn(header, Align::kRight);
  for (const results::WhatIf& each : path.what_ifs())
    table.AddRow({kSubjects[each.subject()], FormatDuration(each.duration_ns()),
                  FormatDuration(each.saved_ns()), FormatPercent(each.saved_ratio())});
  return Section("What if", table, options, 0);
}

}  // namespace

std::string CriticalPathText(const results::CriticalPaths& result, const TextOptions& options) {
  if (result.paths().empty())
    return "No work of a GPU was recorded.\n" + MetaText(result.meta(), options);
  std::string out;
  for (const results::CriticalPath& path : result.paths()) {
    out += Section(WindowText(path), TimesTable(path.categories()), options, 0);
    out += SharesText(path, options);
    out += WhatIfText(path, options);
  }
  return out + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
