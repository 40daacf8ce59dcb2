// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of overlap. See text.h.

#include <string>
#include <vector>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/overlap.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

namespace {

struct Kind {
  const char* name;
  int64_t ns;
  int64_t with_compute_ns;     // -1: the same kind
  int64_t with_collective_ns;  // -1: the same kind
  int64_t with_copy_ns;        // -1: the same kind
  int64_t exposed_ns;          // -1: not asked of this kind
};

std::string Cell(int64_t ns) { return ns < 0 ? "" : FormatDuration(ns); }

std::string DeviceText(const results::DeviceOverlap& device, const TextOptions& options) {
  const Kind kinds[] = {
      {"compute", device.compute_ns(), -1, device.compute_and_collective_ns(),
       device.compute_and_copy_ns(), -1},
      {"collectives", device.collective_ns(), device.compute_and_collective_ns(), -1,
       device.collective_and_copy_ns(), device.exposed_collective_ns()},
      {"copies", device.copy_ns(), device.compute_and_copy_ns(), device.collective_and_copy_ns(),
       -1, device.exposed_copy_ns()},
      {"whole graphs", device.graph_ns(), -1, -1, -1, -1},
  };
  TextTable table;
  table.AddColumn("", Align::kLeft);
  for (const char* header :
       {"time", "of the window", "with compute", "with collectives", "with copies", "exposed"})
    table.AddColumn(header, Align::kRight);
  for (const Kind& kind : kinds) {
    if (kind.ns == 0) continue;
    const double ratio = device.window_ns() == 0 ? 0
                                                 : static_cast<double>(kind.ns) /
                                                       static_cast<double>(device.window_ns());
    table.AddRow({kind.name, FormatDuration(kind.ns), FormatPercent(ratio),
                  Cell(kind.with_compute_ns), Cell(kind.with_collective_ns),
                  Cell(kind.with_copy_ns), Cell(kind.exposed_ns)});
  }
  const std::string heading =
      "pid " + std::to_string(device.pid()) + ", " +
      (device.name().empty() ? "device " + std::to_string(device.device()) : device.name()) +
      ": busy " + FormatDuration(device.busy_ns()) + " of " + FormatDuration(device.window_ns()) +
      "; kernels of several streams at once for " + FormatDuration(device.several_streams_ns());
  return Section(heading, table, options, 0);
}

// Text has a row for each kind of work of a device. The page has a row for each device.
constexpr TableColumn kColumns[] = {
    {.field = "device", .title = "device"},
    {.field = "name", .title = "name", .on_page = OnPage::kOffered},
    kPidColumn,
    {.field = "busy_ns", .title = "busy", .tip = "Anything ran"},
    {.field = "idle_ns", .title = "idle", .tip = "Nothing ran"},
    {.field = "compute_ns", .title = "compute", .tip = "Kernels that are not collectives"},
    {.field = "collective_ns", .title = "collectives", .tip = "Kernels of collectives"},
    {.field = "exposed_collective_ns",
     .title = "exposed collectives",
     .tip = "While nothing computed"},
    {.field = "hidden_collective_ratio",
     .title = "hidden collectives",
     .tip = "The part of the collectives' time that computing hides"},
    {.field = "copy_ns", .title = "copies", .tip = "Copies and memsets"},
    {.field = "exposed_copy_ns", .title = "exposed copies", .tip = "While no kernel ran"},
    {.field = "hidden_copy_ratio",
     .title = "hidden copies",
     .tip = "The part of the copies' time that kernels hide"},
    {.field = "several_streams_ns", .title = "several streams", .tip = "Kernels side by side"},
    {.field = "graph_ns", .title = "whole graphs", .tip = "Graphs that were recorded as a whole"},
    {.field = "compute_and_collective_ns",
     .title = "compute with collectives",
     .on_page = OnPage::kOffered},
    {.field = "compute_and_copy_ns", .title = "compute with copies", .on_page = OnPage::kOffered},
    {.field = "collective_and_copy_ns",
     .title = "collectives with copies",
     .on_page = OnPage::kOffered},
    {.field = "host", .title = "host", .on_page = OnPage::kOffered},
};
constexpr TableLayout kLayouts[] = {{.rows = "devices",
                                     .row = results::DeviceOverlap::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "busy_ns",
                                     .in_text = false}};

}  // namespace

std::span<const TableLayout> OverlapLayouts() { return kLayouts; }

std::string OverlapText(const results::Overlap& result, const TextOptions& options) {
  if (result.devices().empty())
    return "No work of a GPU was recorded.\n" + MetaText(result.meta(), options);
  std::string out;
  for (const results::DeviceOverlap& device : result.devices()) out += DeviceText(device, options);
  return out + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
