// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of device_memory. See text.h.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/device_memory.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

std::string Heading(const results::DeviceMemory& result) {
  std::string text = FormatNumber(result.count()) + " allocations through CUDA, " +
                     FormatBytes(result.allocated_bytes());
  if (result.context_end_count() != 0) {
    text += "; " + FormatNumber(result.context_end_count()) + " released with their context, " +
            FormatBytes(result.context_end_bytes());
  }
  if (result.end_count() == 0) return text + "; none live at the end";
  return text + "; " + FormatNumber(result.end_count()) + " live at the end, " +
         FormatBytes(result.end_bytes());
}

std::string Uses(const results::DeviceMemory& result, const TextOptions& options) {
  TextTable table;
  table.AddColumn(result.by(), Align::kLeft, true);
  const Whose whose(result.uses());
  whose.AddColumns(&table);
  for (const char* header : {"count", "released", "allocated", "mean", "peak", "at", "at end",
                             "live", "older", "calls", "device"})
    table.AddColumn(header, Align::kRight);
  const bool has_ended = result.context_end_count() != 0;
  if (has_ended) table.AddColumn("with context", Align::kRight);
  for (int i = 0; i < Shown(result.uses_size(), options); ++i) {
    const results::MemoryUse& u = result.uses(i);
    const std::string older = u.older_count() == 0 ? "-"
                                                   : FormatNumber(u.older_count()) + " (" +
                                                         FormatBytes(u.older_bytes()) + ")";
    std::vector<std::string> row = {u.name()};
    whose.AddCells(u, &row);
    for (const std::string& cell :
         {FormatNumber(u.count()), FormatNumber(u.release_count()),
          FormatBytes(u.allocated_bytes()), FormatBytes(u.mean_bytes()),
          FormatBytes(u.peak_bytes()), FormatDuration(u.peak_time_ns()), FormatBytes(u.end_bytes()),
          FormatNumber(u.end_count()), older,
          std::string(u.has_call_ratio()
                          ? FormatDuration(u.allocation_call_ns() + u.release_call_ns())
                          : "-"),
          std::to_string(u.device())})
      row.push_back(cell);
    if (has_ended) row.push_back(FormatNumber(u.context_end_count()));
    table.AddRow(std::move(row));
  }
  return Section(Heading(result), table, options, result.uses_size());
}

std::string ProfilersOwn(const results::MemoryDevice& d) {
  if (!d.has_profiler_bytes()) return "-";
  return FormatBytes(d.profiler_bytes()) + (d.profiler_pinned() ? " (host)" : "");
}

std::string Devices(const results::DeviceMemory& result, const TextOptions& options) {
  TextTable table;
  table.AddColumn("device", Align::kRight);
  table.AddColumn("name", Align::kLeft, true);
  for (const char* header : {"pid", "memory", "peak", "of it", "at", "at end", "older", "profiler"})
    table.AddColumn(header, Align::kRight);
  const Pids pid(result.devices());
  for (int i = 0; i < Shown(result.devices_size(), options); ++i) {
    const results::MemoryDevice& d = result.devices(i);
    const std::string older =
        d.older_count() != 0 ? FormatBytes(d.older_bytes()) + (d.begun_late() ? " or more" : "")
                             : std::string(d.begun_late() ? "not known" : "-");
    table.AddRow(
        {std::to_string(d.device()), d.name(), pid(d),
         d.has_capacity_bytes() ? FormatBytes(d.capacity_bytes()) : "-",
         FormatBytes(d.peak_bytes()), d.has_peak_ratio() ? FormatPercent(d.peak_ratio()) : "-",
         FormatDuration(d.peak_time_ns()), FormatBytes(d.end_bytes()), older, ProfilersOwn(d)});
  }
  return Section(
      "On the devices (profiler: estimated memory that CUPTI reserves for gpuprof; not in the "
      "other figures)",
      table, options, result.devices_size());
}

std::string Pools(const results::DeviceMemory& result, const TextOptions& options) {
  TextTable table;
  table.AddColumn("pool", Align::kLeft);
  table.AddColumn("kind", Align::kLeft);
  for (const char* header : {"count", "allocated", "in use at peak", "at", "reserved", "unused",
                             "at end", "threshold", "trims", "trimmed", "device"})
    table.AddColumn(header, Align::kRight);
  const Whose whose(result.pools());
  whose.AddColumns(&table);
  for (int i = 0; i < Shown(result.pools_size(), options); ++i) {
    const results::MemoryPool& p = result.pools(i);
    std::vector<std::string> cells = {
        p.name(),
        p.imported() ? p.kind() + ", imported" : p.kind(),
        FormatNumber(p.count()),
        FormatBytes(p.allocated_bytes()),
        FormatBytes(p.utilized_peak_bytes()),
        FormatDuration(p.utilized_peak_time_ns()),
        FormatBytes(p.reserved_at_peak_bytes()),
        p.has_fragmentation_ratio() ? FormatPercent(p.fragmentation_ratio()) : "-",
        FormatBytes(p.utilized_end_bytes()),
        p.threshold_bytes() == UINT64_MAX ? "all" : FormatBytes(p.threshold_bytes()),
        FormatNumber(p.trim_count()),
        FormatBytes(p.trimmed_bytes()),
        std::to_string(p.device())};
    whose.AddCells(p, &cells);
    table.AddRow(std::move(cells));
  }
  return Section("Pools", table, options, result.pools_size());
}

// Where it was allocated: a function, else a place in a file.
std::string Site(const results::LiveAllocation& live, const TextOptions& options) {
  if (!live.name().empty()) return ShownName(live, options);
  if (!live.has_caller()) return "-";
  const std::string& module = live.caller().module();
  if (module.empty()) return FormatAddress(live.caller().pc());
  return module.substr(module.rfind('/') + 1) + "+" + FormatAddress(live.caller().offset());
}

template <typename Allocations>
std::string Live(const std::string& heading, const Allocations& live, const TextOptions& options) {
  TextTable table;
  table.AddColumn("allocated by", Align::kLeft, true);
  table.AddColumn("call", Align::kLeft);
  table.AddColumn("kind", Align::kLeft);
  for (const char* header : {"bytes", "at", "age", "address", "device", "pid", "tid"})
    table.AddColumn(header, Align::kRight);
  const Pids pid(live);
  for (int i = 0; i < Shown(live.size(), options); ++i) {
    const results::LiveAllocation& l = live[i];
    table.AddRow({Site(l, options), l.has_function() ? l.function() : "-", l.kind(),
                  FormatBytes(l.size_bytes()), FormatDuration(l.time_ns()),
                  FormatDuration(l.age_ns()), FormatAddress(l.address()),
                  std::to_string(l.device()), pid(l), l.has_tid() ? std::to_string(l.tid()) : "-"});
  }
  return Section(heading, table, options, live.size());
}

}  // namespace

std::string DeviceMemoryText(const results::DeviceMemory& result, const TextOptions& options) {
  if (result.uses().empty() && result.pools().empty()) {
    const std::string devices = Devices(result, options);
    return "No allocation of GPU memory was recorded.\n" + (devices.empty() ? "" : "\n" + devices) +
           MetaText(result.meta(), options);
  }
  return Uses(result, options) + Devices(result, options) + Pools(result, options) +
         Live("Live at the end, the largest", result.live(), options) +
         Live("Released only with their context, the largest", result.ended(), options) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
