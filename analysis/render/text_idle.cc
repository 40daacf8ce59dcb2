// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of idle time. See text.h.

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/render/breakdown_words.h"
#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/idle.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

namespace {

std::string DeviceHeading(const results::IdleDevice& device) {
  return "pid " + std::to_string(device.pid()) + ", " +
         (device.name().empty() ? "device " + std::to_string(device.device()) : device.name()) +
         ": idle " + FormatDuration(device.idle_ns()) + " of " +
         FormatDuration(device.window_ns()) + " (" + FormatPercent(1 - device.busy_ratio()) +
         "), in " + FormatNumber(device.gap_count()) + " gaps";
}

std::string SharesText(const std::string& heading,
                       const google::protobuf::RepeatedPtrField<results::HostShare>& shares,
                       const TextOptions& options) {
  if (shares.empty()) return "";
  TextTable table;
  table.AddColumn("name", Align::kLeft, true);
  for (const char* header : {"time", "share", "gaps"}) table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(shares.size(), options); ++i) {
    const results::HostShare& share = shares[i];
    table.AddRow({share.name(), FormatDuration(share.total_ns()),
                  FormatPercent(share.total_ratio()), FormatNumber(share.gap_count())});
  }
  return Section(heading, table, options, shares.size());
}

}  // namespace

std::string IdleText(const results::Idle& result, const TextOptions& options) {
  if (result.devices().empty())
    return "No work of a GPU was recorded.\n" + MetaText(result.meta(), options);
  std::string out;
  for (const results::IdleDevice& device : result.devices())
    out += Section(DeviceHeading(device), TimesTable(device.causes()), options, 0);
  TextTable gaps;
  const bool has_functions =
      std::any_of(result.gaps().begin(), result.gaps().end(),
                  [](const results::IdleGap& gap) { return gap.has_during_function(); });
  for (const char* header : {"at", "gap", "late"}) gaps.AddColumn(header, Align::kRight);
  gaps.AddColumn("cause", Align::kLeft);
  gaps.AddColumn("ended by", Align::kLeft, true);
  gaps.AddColumn("launched in", Align::kLeft, true);
  if (has_functions) gaps.AddColumn("meanwhile", Align::kLeft, true);
  for (int i = 0; i < Shown(result.gaps_size(), options); ++i) {
    const results::IdleGap& gap = result.gaps(i);
    std::vector<std::string> cells = {
        FormatDuration(gap.start_ns()), FormatDuration(gap.duration_ns()),
        FormatDuration(gap.late_ns()),  TimeCategoryWords(gap.cause()),
        ShownName(gap, options),        gap.has_op() ? gap.op() : gap.function()};
    if (has_functions) cells.push_back(gap.during_function());
    gaps.AddRow(std::move(cells));
  }
  out += Section("The longest gaps", gaps, options, result.gaps_size());
  out += SharesText("Operations of the launching threads while devices waited", result.operations(),
                    options);
  out += SharesText("Python functions of the launching threads while devices waited",
                    result.functions(), options);
  return out + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
