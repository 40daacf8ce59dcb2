// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of unified_memory. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/unified_memory.pb.h"

namespace gpuprof::analysis {

namespace {

constexpr TableColumn kUseColumns[] = {
    {.field = "name", .title = "what", .flexible = true},
    {.field = "cause", .title = "cause", .needs = "cause", .blank = "-", .except_by = "device"},
    {.field = "device",
     .title = "device",
     .blank = "-",
     .align = ColumnAlign::kLeft,
     .only_by = "device"},
    {.field = "count", .title = "count"},
    {.field = "bytes", .title = "bytes", .needs = "bytes", .blank = "-"},
    {.field = "total_ns", .title = "time", .needs = "total_ns", .blank = "-"},
    {.field = "max_ns", .title = "longest", .needs = "total_ns", .blank = "-"},
    {.field = "bytes_per_second", .title = "per second", .needs = "bytes_per_second", .blank = "-"},
};
constexpr TableColumn kPlaceColumns[] = {
    kPidColumn,
    {.field = "address", .title = "address"},
    {.field = "migration_count", .title = "migrations"},
    {.field = "bytes", .title = "bytes"},
    {.field = "cpu_page_fault_count", .title = "CPU page faults"},
    {.field = "gpu_page_fault_count", .title = "GPU page faults"},
};
constexpr TableLayout kLayouts[] = {
    {.rows = "uses",
     .row = results::UnifiedMemoryUse::descriptor,
     .columns = kUseColumns,
     .noun = "kind"},
    {.rows = "places",
     .row = results::UnifiedMemoryPlace::descriptor,
     .columns = kPlaceColumns,
     .sorted_by = "bytes",
     .title = "Addresses with the most bytes moved"},
};

}  // namespace

std::span<const TableLayout> UnifiedMemoryLayouts() { return kLayouts; }

std::string UnifiedMemoryText(const results::UnifiedMemory& result, const TextOptions& options) {
  if (result.uses().empty())
    return "No unified memory activity was recorded; --trace cuda,um records it.\n" +
           MetaText(result.meta(), options);
  const std::string heading =
      "To the GPUs " + FormatBytes(result.htod_bytes()) + ", to the host " +
      FormatBytes(result.dtoh_bytes()) + ", between GPUs " + FormatBytes(result.dtod_bytes()) +
      "; " + FormatNumber(result.cpu_page_fault_count()) + " page faults of the host, " +
      FormatNumber(result.gpu_page_fault_count()) + " of GPUs";
  return TableText(heading, kLayouts[0], result, options) +
         TableText(kLayouts[1], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
