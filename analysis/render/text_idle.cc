// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of idle time. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/breakdown_words.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/idle.pb.h"

namespace gpuprof::analysis {

namespace {

std::string DeviceHeading(const results::IdleDevice& device) {
  return "pid " + std::to_string(device.pid()) + ", " +
         (device.name().empty() ? "device " + std::to_string(device.device()) : device.name()) +
         ": idle " + FormatDuration(device.idle_ns()) + " of " +
         FormatDuration(device.window_ns()) + " (" + FormatPercent(1 - device.busy_ratio()) +
         "), in " + FormatNumber(device.gap_count()) + " gaps";
}

std::string CauseWords(const results::IdleGap& gap) { return TimeCategoryWords(gap.cause()); }

std::string LauncherWords(const results::IdleGap& gap) {
  return gap.has_op() ? gap.op() : gap.function();
}

constexpr TableColumn kGapColumns[] = {
    {.field = "start_ns", .title = "at"},
    {.field = "duration_ns", .title = "gap", .scale = kMicroseconds},
    {.field = "late_ns",
     .title = "late",
     .tip = "How long the host was late with the next work",
     .scale = kMicroseconds},
    {.field = "cause", .title = "cause", .cell = CellOf<results::IdleGap, CauseWords>},
    {.field = "name", .title = "ended by", .flexible = true},
    {.field = "op",
     .title = "launched in",
     .cell = CellOf<results::IdleGap, LauncherWords>,
     .flexible = true},
    {.field = "host_function_ns",
     .title = "in host functions",
     .needs = "host_function_ns",
     .blank = "-",
     .shown = ShownIf::kAny},
    {.field = "during_function",
     .title = "meanwhile",
     .flexible = true,
     .shown = ShownIf::kAny,
     .tip = "What the host ran"},
    {.field = "step", .title = "step", .in_text = false},
    {.field = "device", .title = "device", .in_text = false},
};
constexpr TableColumn kShareColumns[] = {
    {.field = "name", .title = "name", .flexible = true},
    {.field = "total_ns", .title = "time"},
    {.field = "total_ratio", .title = "share"},
    {.field = "gap_count", .title = "gaps"},
};
constexpr TableLayout kLayouts[] = {
    TimesLayout("devices.causes"),
    {.rows = "gaps",
     .row = results::IdleGap::descriptor,
     .columns = kGapColumns,
     .sorted_by = "duration_ns",
     .title = "The longest gaps"},
    {.rows = "operations",
     .row = results::HostShare::descriptor,
     .columns = kShareColumns,
     .sorted_by = "total_ns",
     .title = "Operations of the launching threads while devices waited"},
    {.rows = "functions",
     .row = results::HostShare::descriptor,
     .columns = kShareColumns,
     .sorted_by = "total_ns",
     .title = "Python functions of the launching threads while devices waited"},
};

}  // namespace

std::span<const TableLayout> IdleLayouts() { return kLayouts; }

std::string IdleText(const results::Idle& result, const TextOptions& options) {
  if (result.devices().empty())
    return "No work of a GPU was recorded.\n" + MetaText(result.meta(), options);
  std::string out;
  for (const results::IdleDevice& device : result.devices())
    out +=
        TableText(DeviceHeading(device), kLayouts[0], PointersTo(device.causes()), result, options);
  for (const size_t table : {1, 2, 3}) out += TableText(kLayouts[table], result, options);
  return out + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
