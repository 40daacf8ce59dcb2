// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// HloPage: XProf's hlo_stats.

#include <string>

#include "analysis/xprof/data_table.h"
#include "analysis/xprof/figures.h"
#include "analysis/xprof/op_rates.h"
#include "analysis/xprof/pages.h"

namespace gpuprof::analysis::xprof {
namespace {

bool IsRecomputed(const OpMetrics& op) {
  const std::string_view name = std::string_view(op.expression).substr(0, op.expression.find('='));
  return name.find(".remat") != name.npos ||
         op.provenance.find("/rematted_computation/") != op.provenance.npos;
}

std::string NameIn(const std::string& expression) {
  const std::string name = expression.substr(0, expression.find(" = "));
  return name.starts_with("%") ? name.substr(1) : name;
}

}  // namespace

std::string HloPage(const OpStats& stats) {
  DataTable table(
      {{"rank", "number", "Rank"},
       {"program_id", "string", "Program id"},
       {"category", "string", "HLO op category"},
       {"hlo_op_name", "string", "HLO op name"},
       {"hlo_op_expression", "string", "HLO op text"},
       {"tf_op_name", "string", "Framework op name"},
       {"occurrences", "number", "#Occurrences"},
       {"total_time", "number", "Total time (us)"},
       {"avg_time", "number", "Avg. time (us)"},
       {"total_self_time", "number", "Total self time (us)"},
       {"avg_self_time", "number", "Avg. self time (us)"},
       {"total_self_time_percent", "number", "Total self time (%)"},
       {"cumulative_total_self_time_percent", "number", "Cumulative total self time (%)"},
       {"dma_stall_percent", "number", "%time stalled by DMA"},
       {"model_flop_rate", "number", "Model GFLOP/s"},
       {"normalized_flop_rate", "number", "Normalized GFLOP/s"},
       {"measured_memory_bw", "number", "Measured memory BW (GiB/s)"},
       {"hbm_bw", "number", "HBM BW (GiB/s)"},
       {"cmem_read_bw", "number", "CMEM Read BW (GiB/s)"},
       {"cmem_write_bw", "number", "CMEM Write BW (GiB/s)"},
       {"operational_intensity", "number", "Operational intensity (FLOPS/Byte)"},
       {"bound_by", "string", "Bound by"},
       {"hlo_rematerialization", "string", "Rematerialization"},
       {"outside_compilation", "string", "Outside Compilation"},
       {"autotuned", "string", "Autotuned"},
       {"source_info", "string", "Source Info"},
       {"core_type", "string", "TPU core type"},
       {"parent_op_name", "string", "Parent op name"},
       {"vdd_energy", "number", "VDD Energy (J)"}});
  const double all_us = PicoToMicro(stats.device_ops.total_time_ps);
  double rank = 0, sum = 0;
  for (const OpMetrics* op : SortedOps(stats.device_ops)) {
    if (op->occurrences == 0) continue;
    const OpRates rates = RatesOf(*op, stats);
    const double total_us = PicoToMicro(op->time_ps), self_us = PicoToMicro(op->self_time_ps);
    const double share = Divide(self_us, all_us);
    sum += share;
    const std::string& expression = op->expression.empty() ? op->name : op->expression;
    table.AddRow()
        .Number(++rank)
        .Text(std::to_string(op->program_id))
        .Text(op->category)
        .Text(NameIn(expression))
        .Text(expression)
        .Text(op->provenance)
        .Number(op->occurrences)
        .Number(total_us)
        .Number(Divide(total_us, op->occurrences))
        .Number(self_us)
        .Number(Divide(self_us, op->occurrences))
        .Number(share * 100.0)
        .Number(sum * 100.0)
        .Number(0)
        .Number(rates.model_flop_rate)
        .Number(rates.flop_rate)
        .Number(rates.memory_rate)
        .Number(rates.hbm_rate)
        .Number(0)
        .Number(0)
        .Number(rates.intensity)
        .Text(rates.bound_by)
        .Text(IsRecomputed(*op) ? "Yes" : "No")
        .Text("No")
        .Text("No")
        .Text(SourceCell(*op))
        .Text("")
        .Text("")
        .Number(0);
  }
  return table.Json();
}

}  // namespace gpuprof::analysis::xprof
