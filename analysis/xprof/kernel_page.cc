// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// KernelPage: XProf's kernel_stats.

#include "analysis/xprof/data_table.h"
#include "analysis/xprof/figures.h"
#include "analysis/xprof/pages.h"

namespace gpuprof::analysis::xprof {
namespace {

std::string Triple(const uint32_t (&values)[3]) {
  return std::to_string(values[0]) + "," + std::to_string(values[1]) + "," +
         std::to_string(values[2]);
}

}  // namespace

std::string KernelPage(const OpStats& stats) {
  DataTable table({{"rank", "number", "Rank"},
                   {"kernel_name", "string", "Kernel Name"},
                   {"registers_per_thread", "number", "Registers per thread"},
                   {"shmem_bytes", "number", "Shared Mem bytes"},
                   {"block_dim", "string", "Block dim"},
                   {"grid_dim", "string", "Grid dim"},
                   {"occupancy_pct", "number", "Theoretical Occupancy %"},
                   {"is_op_tensor_core_eligible", "boolean", "Op is TensorCore eligible"},
                   {"is_kernel_using_tensor_core", "boolean", "Kernel uses TensorCore"},
                   {"op_name", "string", "Op Name"},
                   {"occurrences", "number", "Occurrences"},
                   {"total_duration_us", "number", "Total Duration (μs)"},
                   {"avg_duration_us", "number", "Avg Duration (μs)"},
                   {"min_duration_us", "number", "Min Duration (μs)"},
                   {"max_duration_us", "number", "Max Duration (μs)"}});
  int rank = 0;
  for (const KernelReport& report : stats.kernels) {
    const KernelReport::Key& key = report.key;
    table.AddRow()
        .Number(++rank)
        .Text(key.name)
        .Number(key.registers)
        .Number(key.static_shared + key.dynamic_shared)
        .Text(Triple(key.block))
        .Text(Triple(key.grid))
        .Number(report.occupancy)
        .Bool(key.is_eligible)
        .Bool(key.uses_tensor_cores)
        .Text(key.op)
        .Number(report.occurrences)
        .Number(NanoToMicro(report.total_ns))
        .Number(NanoToMicro(report.total_ns / report.occurrences))
        .Number(NanoToMicro(report.min_ns))
        .Number(NanoToMicro(report.max_ns));
  }
  return table.Json();
}

}  // namespace gpuprof::analysis::xprof
