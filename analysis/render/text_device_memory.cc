// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of device_memory. See text.h.

#include <cstdint>
#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/device_memory.pb.h"

namespace gpuprof::analysis {
namespace {

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

std::string OlderWords(const results::MemoryUse& u) {
  return FormatNumber(u.older_count()) + " (" + FormatBytes(u.older_bytes()) + ")";
}

std::string CallWords(const results::MemoryUse& u) {
  return FormatDuration(u.allocation_call_ns() + u.release_call_ns());
}

std::string OlderOnDevice(const results::MemoryDevice& d) {
  if (d.older_count() == 0) return d.begun_late() ? "not known" : "-";
  return FormatBytes(d.older_bytes()) + (d.begun_late() ? " or more" : "");
}

std::string ProfilersOwn(const results::MemoryDevice& d) {
  return FormatBytes(d.profiler_bytes()) + (d.profiler_pinned() ? " (host)" : "");
}

std::string PoolKind(const results::MemoryPool& p) {
  return p.imported() ? p.kind() + ", imported" : p.kind();
}

std::string ThresholdWords(const results::MemoryPool& p) {
  return p.threshold_bytes() == UINT64_MAX ? "all" : FormatBytes(p.threshold_bytes());
}

// Where it was allocated: a function, else a place in a file.
std::string Site(const results::LiveAllocation& live, const CellContext& context) {
  if (!live.name().empty()) return ShownName(live, context.options);
  if (!live.has_caller()) return "-";
  const std::string& module = live.caller().module();
  if (module.empty()) return FormatAddress(live.caller().pc());
  return module.substr(module.rfind('/') + 1) + "+" + FormatAddress(live.caller().offset());
}

constexpr TableColumn kUseColumns[] = {
    {.field = "name", .title = "kind", .flexible = true, .only_by = "kind"},
    {.field = "name", .title = "device", .flexible = true, .only_by = "device"},
    {.field = "name", .title = "pool", .flexible = true, .only_by = "pool"},
    {.field = "name", .title = "size", .flexible = true, .only_by = "size"},
    {.field = "name", .title = "stream", .flexible = true, .only_by = "stream"},
    kWhosePid,
    kWhoseContext,
    {.field = "count", .title = "count"},
    {.field = "release_count", .title = "released"},
    {.field = "allocated_bytes", .title = "allocated"},
    {.field = "mean_bytes", .title = "mean", .on_page = OnPage::kOffered},
    {.field = "peak_bytes", .title = "peak"},
    {.field = "peak_time_ns", .title = "at", .on_page = OnPage::kOffered},
    {.field = "end_bytes", .title = "at end"},
    {.field = "end_count", .title = "live", .on_page = OnPage::kOffered},
    {.field = "older_count",
     .title = "older",
     .cell = CellOf<results::MemoryUse, OlderWords>,
     .needs = "older_count",
     .blank = "-",
     .on_page = OnPage::kOffered},
    {.field = "allocation_call_ns",
     .title = "calls",
     .cell = CellOf<results::MemoryUse, CallWords>,
     .needs = "call_ratio",
     .blank = "-",
     .on_page = OnPage::kAbsent},
    {.field = "mean_life_ns", .title = "mean life", .scale = kMilliseconds, .in_text = false},
    {.field = "device", .title = "device", .on_page = OnPage::kAbsent},
    {.field = "device", .title = "device", .except_by = "device", .in_text = false},
    {.field = "context_end_count", .title = "with context", .shown = ShownIf::kAny},
};
constexpr TableColumn kDeviceColumns[] = {
    {.field = "device", .title = "device"},
    {.field = "name", .title = "name", .flexible = true},
    kPidColumn,
    {.field = "capacity_bytes", .title = "memory", .blank = "-"},
    {.field = "peak_bytes", .title = "peak"},
    {.field = "peak_ratio", .title = "of it", .blank = "-"},
    {.field = "peak_time_ns", .title = "at"},
    {.field = "end_bytes", .title = "at end"},
    {.field = "older_bytes",
     .title = "older",
     .cell = CellOf<results::MemoryDevice, OlderOnDevice>,
     .on_page = OnPage::kAbsent},
    {.field = "profiler_bytes",
     .title = "profiler",
     .cell = CellOf<results::MemoryDevice, ProfilersOwn>,
     .needs = "profiler_bytes",
     .blank = "-"},
};
constexpr TableColumn kPoolColumns[] = {
    {.field = "name", .title = "pool"},
    {.field = "kind", .title = "kind", .cell = CellOf<results::MemoryPool, PoolKind>},
    {.field = "count", .title = "count"},
    {.field = "allocated_bytes", .title = "allocated"},
    {.field = "utilized_peak_bytes", .title = "in use at peak"},
    {.field = "utilized_peak_time_ns", .title = "at"},
    {.field = "reserved_at_peak_bytes", .title = "reserved"},
    {.field = "fragmentation_ratio", .title = "unused", .blank = "-"},
    {.field = "utilized_end_bytes", .title = "at end"},
    {.field = "threshold_bytes",
     .title = "threshold",
     .cell = CellOf<results::MemoryPool, ThresholdWords>,
     .on_page = OnPage::kAbsent},
    {.field = "trim_count", .title = "trims"},
    {.field = "trimmed_bytes", .title = "trimmed"},
    {.field = "device", .title = "device"},
    kWhosePid,
};
constexpr TableColumn kLiveColumns[] = {
    {.field = "name",
     .title = "allocated by",
     .cell = CellOf<results::LiveAllocation, Site>,
     .flexible = true},
    {.field = "function", .title = "call", .blank = "-"},
    {.field = "kind", .title = "kind"},
    {.field = "size_bytes", .title = "bytes"},
    {.field = "time_ns", .title = "at"},
    {.field = "age_ns", .title = "age"},
    {.field = "address", .title = "address"},
    {.field = "device", .title = "device"},
    kPidColumn,
    {.field = "tid", .title = "tid", .blank = "-"},
};
constexpr TableLayout kLayouts[] = {
    {.rows = "uses",
     .row = results::MemoryUse::descriptor,
     .columns = kUseColumns,
     .sorted_by = "peak_bytes",
     .noun = "kind"},
    {.rows = "devices",
     .row = results::MemoryDevice::descriptor,
     .columns = kDeviceColumns,
     .title = "On the devices (profiler: estimated memory that CUPTI reserves for gpuprof; not in "
              "the other figures)"},
    {.rows = "pools",
     .row = results::MemoryPool::descriptor,
     .columns = kPoolColumns,
     .title = "Pools"},
    {.rows = "live",
     .row = results::LiveAllocation::descriptor,
     .columns = kLiveColumns,
     .noun = "allocation",
     .title = "Live at the end, the largest"},
    {.rows = "ended",
     .row = results::LiveAllocation::descriptor,
     .columns = kLiveColumns,
     .noun = "allocation",
     .title = "Released only with their context, the largest"},
};

}  // namespace

std::span<const TableLayout> DeviceMemoryLayouts() { return kLayouts; }

std::string DeviceMemoryText(const results::DeviceMemory& result, const TextOptions& options) {
  if (result.uses().empty() && result.pools().empty()) {
    const std::string devices = TableText(kLayouts[1], result, options);
    return "No allocation of GPU memory was recorded.\n" + (devices.empty() ? "" : "\n" + devices) +
           MetaText(result.meta(), options);
  }
  std::string text = TableText(Heading(result), kLayouts[0], result, options);
  for (const TableLayout& layout : std::span(kLayouts).subspan(1))
    text += TableText(layout, result, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
