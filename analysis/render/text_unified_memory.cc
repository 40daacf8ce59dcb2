// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of unified_memory. See text.h.

#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/unified_memory.pb.h"

namespace gpuprof::analysis {

using Align = TextTable::Align;

namespace {

std::string Places(const results::UnifiedMemory& result, const TextOptions& options) {
  if (result.places().empty()) return "";
  TextTable table;
  for (const char* header :
       {"pid", "address", "migrations", "bytes", "CPU page faults", "GPU page faults"})
    table.AddColumn(header, Align::kRight);
  const Pids pid(result.places());
  for (int i = 0; i < Shown(result.places_size(), options); ++i) {
    const results::UnifiedMemoryPlace& p = result.places(i);
    table.AddRow({pid(p), FormatAddress(p.address()), FormatNumber(p.migration_count()),
                  FormatBytes(p.bytes()), FormatNumber(p.cpu_page_fault_count()),
                  FormatNumber(p.gpu_page_fault_count())});
  }
  return Section("Addresses with the most bytes moved", table, options, result.places_size());
}

}  // namespace

std::string UnifiedMemoryText(const results::UnifiedMemory& result, const TextOptions& options) {
  if (result.uses().empty())
    return "No unified memory activity was recorded; --trace cuda,um records it.\n" +
           MetaText(result.meta(), options);
  TextTable table;
  const bool by_device = result.by() == "device";
  table.AddColumn("what", Align::kLeft, true);
  table.AddColumn(by_device ? "device" : "cause", Align::kLeft);
  for (const char* header : {"count", "bytes", "time", "longest", "per second"})
    table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(result.uses_size(), options); ++i) {
    const results::UnifiedMemoryUse& u = result.uses(i);
    const std::string device = u.has_device() ? std::to_string(u.device()) : "-";
    const std::string cause = u.cause().empty() ? "-" : u.cause();
    const bool has_speed = u.bytes_per_second() > 0;
    table.AddRow(
        {u.name(), by_device ? device : cause, FormatNumber(u.count()),
         u.bytes() != 0 ? FormatBytes(u.bytes()) : "-",
         u.total_ns() != 0 ? FormatDuration(u.total_ns()) : "-",
         u.total_ns() != 0 ? FormatDuration(u.max_ns()) : "-",
         has_speed ? FormatBytes(static_cast<uint64_t>(u.bytes_per_second())) + "/s" : "-"});
  }
  const std::string heading =
      "To the GPUs " + FormatBytes(result.htod_bytes()) + ", to the host " +
      FormatBytes(result.dtoh_bytes()) + ", between GPUs " + FormatBytes(result.dtod_bytes()) +
      "; " + FormatNumber(result.cpu_page_fault_count()) + " page faults of the host, " +
      FormatNumber(result.gpu_page_fault_count()) + " of GPUs";
  return Section(heading, table, options, result.uses_size()) + Places(result, options) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
