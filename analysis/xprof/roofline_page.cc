// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// RooflinePage: XProf's roofline_model, first with the infeed's and outfeed's time, then without.

#include <algorithm>
#include <cstdio>
#include <string>

#include "analysis/xprof/data_table.h"
#include "analysis/xprof/figures.h"
#include "analysis/xprof/input_analysis.h"
#include "analysis/xprof/op_rates.h"
#include "analysis/xprof/pages.h"

namespace gpuprof::analysis::xprof {
namespace {

constexpr size_t kMostRooflineOps = 1000;

std::string SixDigits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

class RooflineTable {
 public:
  explicit RooflineTable(const OpStats& stats)
      : stats_(stats), is_gpu_(stats.hardware == Hardware::kGpu) {
    AddColumns();
    if (is_gpu_) {
      AddOps(true);
      AddOps(false);
    }
    SetPeaks();
  }
  std::string Json() const { return table_.Json(); }

 private:
  void AddColumns();
  void SetPeaks();
  void AddOps(bool with_feeds);
  void AddRow(std::string_view step, const OpMetrics& op, uint64_t total_ps, bool with_feeds);

  const OpStats& stats_;
  bool is_gpu_;
  DataTable table_;
  double rank_ = 0, share_ = 0, sum_ = 0;  // of the row to come
};

void RooflineTable::AddColumns() {
  const auto add = [&](bool is_there, std::string_view id, std::string_view type,
                       std::string_view label) {
    if (is_there) table_.AddColumn({id, type, label});
  };
  const bool is_other = !is_gpu_;
  add(true, "step", "string", "Step");
  add(true, "rank", "number", "Rank");
  add(true, "category", "string", "Category");
  add(true, "operation", "string", "Operation");
  add(true, "occurrences", "number", "# Occurrences");
  add(true, "total_time", "number", "Total Time (us)");
  add(true, "avg_time", "number", "Avg. time (us)");
  add(true, "total_self_time", "number", "Total self time (us)");
  add(true, "avg_self_time", "number", "Avg. self time (us)");
  add(true, "total_self_time_percent", "number", "Total self time (%)");
  add(true, "cumulative_total_self_time_percent", "number", "Cumulative total self time (%)");
  add(is_other, "dma_stall_percent", "number", "%time stalled by DMA");
  add(true, "measured_flop_rate", "number", "Normalized FLOP Rate (GFLOP/s)");
  add(true, "model_flop_rate", "number", "Model FLOP Rate (GFLOP/s)");
  add(true, "measured_memory_bw", "number", "Memory BW (GiB/s)");
  add(true, "hbm_bw", "number", "HBM BW (GiB/s)");
  add(is_other, "cmem_read_bw", "number", "CMEM Read BW (GiB/s)");
  add(is_other, "cmem_write_bw", "number", "CMEM Write BW (GiB/s)");
  add(is_other, "vmem_read_bw", "number", "VMEM Read BW (GiB/s)");
  add(is_gpu_, "vmem_write_bw", "number", "SHM/L1 BW (GiB/s)");
  add(is_other, "vmem_write_bw", "number", "VMEM Write BW (GiB/s)");
  add(true, "operational_intensity", "number", "Operational Intensity (FLOP/Byte)");
  add(true, "hbm_operational_intensity", "number", "HBM Operational Intensity (FLOP/Byte)");
  add(is_other, "cmem_read_operational_intensity", "number",
      "CMEM Read Operational Intensity (FLOP/Byte)");
  add(is_other, "cmem_write_operational_intensity", "number",
      "CMEM Write Operational Intensity (FLOP/Byte)");
  add(is_other, "vmem_read_operational_intensity", "number",
      "VMEM Read Operational Intensity (FLOP/Byte)");
  add(is_gpu_, "vmem_write_operational_intensity", "number",
      "SHM/L1 Operational Intensity (FLOP/Byte)");
  add(is_other, "vmem_write_operational_intensity", "number",
      "VMEM Write Operational Intensity (FLOP/Byte)");
  add(true, "bottleneck_operational_intensity", "number",
      "Bottleneck Operational Intensity (FLOP/Byte)");
  add(true, "bound_by", "string", "Bound by");
  add(true, "total_time_per_core", "number", "Total Time per core (us)");
  add(true, "total_time_in_percentage", "number", "Total Time (%)");
  add(true, "optimal_flop_rate", "number", "Optimal FLOP Rate (GFLOP/s)");
  add(true, "roofline_efficiency", "number", "Roofline efficiency (%)");
  add(true, "compute_efficiency", "number", "FLOP Rate / Peak (%)");
  add(true, "max_mem_bw_utilization", "number",
      "Max memory BW utilization (among supported memories) (%)");
  add(true, "include_infeed_outfeed", "boolean", "Include Infeed/Outfeed");
  add(true, "hlo_module_id", "string", "Program ID");
  add(true, "source_info", "string", "Source Info");
}

void RooflineTable::SetPeaks() {
  if (!is_gpu_) {
    table_.Set("device_type", "");
    for (const char* name :
         {"megacore", "has_cmem", "has_merged_vmem", "peak_flop_rate", "peak_hbm_bw",
          "peak_cmem_read_bw", "peak_cmem_write_bw", "peak_vmem_read_bw", "peak_vmem_write_bw",
          "hbm_ridge_point", "cmem_read_ridge_point", "cmem_write_ridge_point",
          "vmem_read_ridge_point", "vmem_write_ridge_point", "time_scale_multiplier"})
      table_.Set(name, "0");
    return;
  }
  const double flops = stats_.peaks.teraflops * 1E3;
  const auto set = [&](const char* rate, const char* ridge, double gigabytes) {
    const double gibibytes = GigaToGibi(gigabytes);
    table_.Set(rate, SixDigits(gibibytes));
    table_.Set(ridge, SixDigits(Divide(flops, gibibytes * ((1 << 30) / 1.0e9))));
  };
  table_.Set("device_type", stats_.device_type);
  table_.Set("peak_flop_rate", SixDigits(flops));
  set("peak_hbm_bw", "hbm_ridge_point", stats_.peaks.memory_gigabytes);
  set("peak_vmem_write_bw", "vmem_write_ridge_point", stats_.peaks.shared_gigabytes);
}

void RooflineTable::AddRow(std::string_view step, const OpMetrics& op, uint64_t total_ps,
                           bool with_feeds) {
  const OpRates rates = RatesOf(op, stats_);
  const double total_us = PicoToMicro(op.time_ps), self_us = PicoToMicro(op.self_time_ps);
  const double compute = Divide(rates.flop_rate, stats_.peaks.teraflops * 1E3);
  const double memory = Divide(rates.hbm_rate, GigaToGibi(stats_.peaks.memory_gigabytes));
  const double efficiency = std::max({0.0, memory, compute});
  table_.AddRow()
      .Text(step)
      .Number(rank_)
      .Text(op.category)
      .Text(op.name)
      .Number(op.occurrences)
      .Number(total_us)
      .Number(Divide(total_us, op.occurrences))
      .Number(self_us)
      .Number(Divide(self_us, op.occurrences))
      .Number(share_)
      .Number(sum_)
      .Number(rates.flop_rate)
      .Number(rates.model_flop_rate)
      .Number(rates.memory_rate)
      .Number(rates.hbm_rate)
      .Number(0)
      .Number(rates.intensity)
      .Number(rates.hbm_intensity)
      .Number(0)
      .Number(rates.bottleneck_intensity)
      .Text(rates.bound_by)
      .Number(Divide(total_us, stats_.device_cores))
      .Number(Divide(static_cast<double>(op.time_ps), static_cast<double>(total_ps)))
      .Number(Divide(rates.flop_rate, efficiency))
      .Number(efficiency)
      .Number(compute)
      .Number(std::max(0.0, memory))
      .Bool(with_feeds)
      .Text(std::to_string(op.program_id))
      .Text(SourceCell(op));
}

void RooflineTable::AddOps(bool with_feeds) {
  const OpMetricsDb& db = stats_.device_ops;
  const auto is_feed = [&](const OpMetrics& op) {
    return !with_feeds && (op.category == "infeed" || op.category == "outfeed");
  };
  OpMetrics program;
  program.name = program.category = "Program";
  program.occurrences = 1;
  uint64_t total_ps = db.total_time_ps;
  for (const OpMetrics& op : db.ops) {
    if (is_feed(op)) {
      total_ps -= op.time_ps;
      continue;
    }
    // Their inner operations are counted.
    if (op.category == "call" || op.category == "conditional" || op.category == "while") continue;
    program.AddCosts(op);
  }
  program.time_ps = total_ps;
  rank_ = share_ = sum_ = 0;
  AddRow("Total", program, total_ps, with_feeds);
  for (const OpMetrics* op : SortedOps(db, kMostRooflineOps)) {
    if (op->occurrences == 0 || is_feed(*op)) continue;
    ++rank_;
    share_ = Divide(PicoToMicro(op->self_time_ps), PicoToMicro(total_ps));
    sum_ += share_;
    AddRow("Total", *op, total_ps, with_feeds);
  }
  // XProf keeps no operations of single steps of GPUs: the rows of steps are empty.
  for (const Step& step : stats_.steps.steps) {
    OpMetrics empty;
    empty.name = empty.category = "Program";
    empty.occurrences = 1;
    rank_ = share_ = sum_ = 0;
    AddRow(std::to_string(step.cores.empty() ? 0 : step.cores.begin()->second.number), empty, 0,
           with_feeds);
  }
}

}  // namespace

std::string RooflinePage(const OpStats& stats) {
  std::vector<std::string> warnings;
  if (stats.hardware == Hardware::kGpu) warnings = StepWarnings(stats.steps);
  return "[" + RooflineTable(stats).Json() + "," + DiagnosticsTable(warnings, {}).Json() + "]";
}

}  // namespace gpuprof::analysis::xprof
