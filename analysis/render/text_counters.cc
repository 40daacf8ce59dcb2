// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of counters. See text.h.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "analysis/base/figures.h"
#include "analysis/base/units.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/counters.pb.h"

namespace gpuprof::analysis {

namespace {

// Counters of an imported file have no unit: ratios as well as bytes may be among them.
std::string ValueWithoutUnit(double value) {
  constexpr double kWhole = 1e6;
  char text[64];
  std::snprintf(text, sizeof text, std::fabs(value) < kWhole ? "%.6g" : "%.0f", value);
  return text;
}

std::string Value(double value, const std::string& unit) {
  if (unit.empty()) return ValueWithoutUnit(value);
  if (unit == "bytes") return FormatBytes(WholeNumber(value));
  if (unit == "bytes/s") return FormatBytes(WholeNumber(value)) + "/s";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %s", std::fabs(value) < 100 ? 1 : 0, value,
                unit == "C" ? "\u00b0C" : unit.c_str());
  return text;
}

struct Heading {
  bool with_host = false;   // the devices are of several
  bool knows_used = false;  // processes told which devices they see
};

Heading HeadingOf(const results::Counters& result) {
  Heading heading;
  for (const results::CounterDevice& device : result.devices()) {
    heading.with_host = heading.with_host || device.host() != result.devices(0).host();
    heading.knows_used = heading.knows_used || !device.cuda_devices().empty();
  }
  return heading;
}

std::string HeadingText(const results::CounterDevice& device, const Heading& heading) {
  std::string text = "GPU " + std::to_string(device.device());
  if (heading.with_host) text += " of " + device.host();
  if (!device.name().empty()) text += ": " + device.name();
  if (device.count() != 0) text += ", read " + FormatNumber(device.count()) + " times";
  if (device.period_ns() != 0) text += ", every " + FormatDuration(device.period_ns());
  if (device.pm_count() != 0) text += ", " + FormatNumber(device.pm_count()) + " PM samples";
  if (device.pm_period_ns() != 0) text += ", every " + FormatDuration(device.pm_period_ns());
  for (int i = 0; i < device.cuda_devices_size(); ++i) {
    text += (i == 0 ? "; device " : ", ") + std::to_string(device.cuda_devices(i).device()) +
            " of pid " + std::to_string(device.cuda_devices(i).pid());
  }
  if (heading.knows_used && device.cuda_devices().empty()) text += "; not seen by the program";
  return text;
}

bool IsOf(const results::CounterUse& use, const results::CounterDevice& device) {
  return use.has_device() && use.device() == device.device() && use.host() == device.host() &&
         use.device_uuid() == device.uuid();
}

std::string CounterWords(const results::CounterUse& use) {
  return use.name() + (use.pid() != 0 ? " of pid " + std::to_string(use.pid()) : "");
}

template <double (results::CounterUse::*kNumber)() const>
std::string NumberWords(const results::CounterUse& use) {
  return Value((use.*kNumber)(), use.unit());
}

constexpr TableColumn kColumns[] = {
    {.field = "name",
     .title = "counter",
     .cell = CellOf<results::CounterUse, CounterWords>,
     .flexible = true},
    {.field = "device", .title = "device", .in_text = false},
    {.field = "mean",
     .title = "mean",
     .cell = CellOf<results::CounterUse, NumberWords<&results::CounterUse::mean>>},
    {.field = "min",
     .title = "min",
     .cell = CellOf<results::CounterUse, NumberWords<&results::CounterUse::min>>},
    {.field = "p50",
     .title = "p50",
     .cell = CellOf<results::CounterUse, NumberWords<&results::CounterUse::p50>>},
    {.field = "p95",
     .title = "p95",
     .cell = CellOf<results::CounterUse, NumberWords<&results::CounterUse::p95>>},
    {.field = "max",
     .title = "max",
     .cell = CellOf<results::CounterUse, NumberWords<&results::CounterUse::max>>},
    {.field = "count", .title = "samples"},
    {.field = "covered_ns", .title = "covered", .scale = kSeconds, .in_text = false},
    // The counters of an imported file have no source.
    {.field = "source", .title = "from", .shown = ShownIf::kAny},
    {.field = "last",
     .title = "last",
     .cell = CellOf<results::CounterUse, NumberWords<&results::CounterUse::last>>,
     .shown = ShownIf::kNone,
     .shown_by = "source"},
};
constexpr TableColumn kReasonColumns[] = {
    {.field = "name", .title = "reason for lower clocks"},
    {.field = "device", .title = "device"},
    {.field = "total_ns", .title = "time"},
    {.field = "total_ratio", .title = "share"},
};
constexpr TableLayout kLayouts[] = {
    {.rows = "counters",
     .row = results::CounterUse::descriptor,
     .columns = kColumns,
     .is_complete = true},
    {.rows = "reasons",
     .row = results::ClocksEventReason::descriptor,
     .columns = kReasonColumns,
     .sorted_by = "total_ns",
     .title = "Reasons for lower clocks",
     .in_text = false},
};

template <typename IsWanted>
std::string TableOf(const results::Counters& result, const TextOptions& options,
                    IsWanted&& is_wanted) {
  TableRows rows = {PointersTo(result.counters()), {}};
  for (const results::CounterUse& use : result.counters())
    if (is_wanted(use) && use.unit() != "mask") rows.shown.push_back(&use);
  return MakeTable(kLayouts[0], rows, result, options).Render(options.table_width);
}

// Returns the counters of an imported file that are of no device.
std::string ProcessTable(const results::Counters& result, const TextOptions& options) {
  const auto is_wanted = [](const results::CounterUse& use) { return !use.has_device(); };
  if (std::none_of(result.counters().begin(), result.counters().end(), is_wanted)) return "";
  return "Counters of processes\n" + TableOf(result, options, is_wanted) + "\n";
}

std::string DeviceTable(const results::Counters& result, const results::CounterDevice& device,
                        const Heading& heading, const TextOptions& options) {
  std::string reasons;
  for (const results::ClocksEventReason& reason : result.reasons()) {
    if (reason.device() != device.device() || reason.host() != device.host()) continue;
    reasons +=
        (reasons.empty() ? "" : ", ") + reason.name() + " " + FormatPercent(reason.total_ratio());
  }
  std::string text =
      HeadingText(device, heading) + "\n" +
      TableOf(result, options, [&](const results::CounterUse& use) { return IsOf(use, device); });
  if (!reasons.empty())
    text += WrapText("reasons for lower clocks, share of time: " + reasons, "  ", "    ",
                     options.width);
  return text + "\n";
}

}  // namespace

std::span<const TableLayout> CountersLayouts() { return kLayouts; }

std::string CountersText(const results::Counters& result, const TextOptions& options) {
  if (result.counters().empty()) {
    return WrapText("No hardware counter was recorded: " + result.absence() + ".", "", "  ",
                    options.width) +
           MetaText(result.meta(), options);
  }
  std::string text;
  const Heading heading = HeadingOf(result);
  for (int i = 0; i < Shown(result.devices_size(), options); ++i)
    text += DeviceTable(result, result.devices(i), heading, options);
  text += MoreLine(result.devices_size(), options) + ProcessTable(result, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
