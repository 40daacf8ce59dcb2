// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of critical paths. See text.h.

#include <iterator>
#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/breakdown_words.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/critical_path.pb.h"

namespace gpuprof::analysis {

namespace {

std::string WindowText(const results::CriticalPath& path) {
  const std::string pid = "pid " + std::to_string(path.pid()) + ", ";
  if (!path.has_first_step())
    return pid + "no steps were found: the whole recording, " + FormatDuration(path.duration_ns());
  const std::string first = std::to_string(path.first_step());
  const bool is_one = path.first_step() == path.last_step();
  return pid +
         (is_one ? "step " + first
                 : "steps " + first + " and " + std::to_string(path.last_step()) +
                       ", the neighbours nearest the typical step of " +
                       FormatDuration(path.typical_step_ns())) +
         ": " + FormatDuration(path.duration_ns());
}

std::string ShareName(const results::PathShare& share, const CellContext& context) {
  constexpr const char* kKinds[] = {"nothing that was recorded",
                                    "",
                                    "copies",
                                    "whole graphs",
                                    "",
                                    "",
                                    "host, outside of operations",
                                    "on the way to the device",
                                    "waits of streams"};
  static_assert(std::size(kKinds) == results::PathShareKind_ARRAYSIZE);
  return share.name().empty() ? kKinds[share.kind()] : ShownName(share, context.options);
}

std::string SubjectWords(const results::WhatIf& each) {
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
  return kSubjects[each.subject()];
}

constexpr TableColumn kShareColumns[] = {
    {.field = "name",
     .title = "on the path",
     .cell = CellOf<results::PathShare, ShareName>,
     .flexible = true},
    {.field = "kind", .title = "kind", .in_text = false},
    {.field = "total_ns", .title = "time"},
    {.field = "total_ratio", .title = "share"},
    {.field = "count", .title = "pieces"},
};
constexpr TableColumn kWhatIfColumns[] = {
    {.field = "subject",
     .title = "if this took no time",
     .cell = CellOf<results::WhatIf, SubjectWords>},
    {.field = "duration_ns", .title = "time"},
    {.field = "saved_ns", .title = "saved"},
    {.field = "saved_ratio", .title = "share"},
};
constexpr TableLayout kLayouts[] = {
    TimesLayout("paths.categories"),
    {.rows = "paths.shares",
     .row = results::PathShare::descriptor,
     .columns = kShareColumns,
     .sorted_by = "total_ns",
     .noun = "piece",
     .title = "What the end of the last step waited for"},
    {.rows = "paths.what_ifs",
     .row = results::WhatIf::descriptor,
     .columns = kWhatIfColumns,
     .is_complete = true,
     .sorted_by = "saved_ns",
     .noun = "case",
     .title = "What if"},
};

}  // namespace

std::span<const TableLayout> CriticalPathLayouts() { return kLayouts; }

std::string CriticalPathText(const results::CriticalPaths& result, const TextOptions& options) {
  if (result.paths().empty())
    return "No work of a GPU was recorded.\n" + MetaText(result.meta(), options);
  std::string out;
  for (const results::CriticalPath& path : result.paths()) {
    out += TableText(WindowText(path), kLayouts[0], PointersTo(path.categories()), result, options);
    out += TableText(std::string(kLayouts[1].title), kLayouts[1], PointersTo(path.shares()), result,
                     options);
    out += TableText(std::string(kLayouts[2].title), kLayouts[2], PointersTo(path.what_ifs()),
                     result, options);
  }
  return out + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
