// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// OpPage: XProf's framework_op_stats. The first table has the idle time, the second has not.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "analysis/xprof/data_table.h"
#include "analysis/xprof/figures.h"
#include "analysis/xprof/op_rates.h"
#include "analysis/xprof/pages.h"

namespace gpuprof::analysis::xprof {
namespace {

constexpr size_t kMostOps = 500;  // of the devices, and of the hosts

using Kernels = std::map<std::string, OpKernels, std::less<>>;

class OpTable {
 public:
  OpTable(const OpStats& stats, const Kernels& kernels, bool with_idle)
      : stats_(stats),
        kernels_(kernels),
        with_idle_(with_idle),
        is_gpu_(stats.device_type.find("GPU") != std::string::npos) {
    AddColumns();
    AddOps(FrameworkOps(stats.device_ops, true), true);
    AddOps(stats.host_ops, false);
    table_.Set("task_type", is_training_ ? "Training" : "Inference");
    table_.Set("architecture_type", "Unknown");
  }

  std::string Json() const { return table_.Json(); }

 private:
  void AddColumns();
  void AddOps(const OpMetricsDb& db, bool is_device);
  void AddRow(const OpMetrics& op, bool is_device, double share, double sum);

  const OpStats& stats_;
  const Kernels& kernels_;
  bool with_idle_, is_gpu_;
  DataTable table_;
  bool is_training_ = false;
  int rank_ = 0;
};

void OpTable::AddColumns() {
  for (const DataTable::Column& column :
       {DataTable::Column{"rank", "number", "Rank"},
        {"host_or_device", "string", "Host/device"},
        {"type", "string", "Operation Type"},
        {"operation", "string", "Operation Name"},
        {"occurrences", "number", "#Occurrences"},
        {"total_time", "number", "Total time (us)"},
        {"avg_time", "number", "Avg. time (us)"},
        {"total_self_time", "number", "Total self-time (us)"},
        {"avg_self_time", "number", "Avg. self-time (us)"},
        {"device_total_self_time_percent", "number", "Total self-time on Device (%)"},
        {"device_cumulative_total_self_time_percent", "number",
         "Cumulative total-self time on Device (%)"},
        {"host_total_self_time_percent", "number", "Total self-time on Host (%)"},
        {"Host_cumulative_total_self_time_percent", "number",
         "Cumulative total-self time on Host (%)"},
        {"measured_flop_rate", "number", "Normalized FLOP Rate (FLOPs/s)"},
        {"model_flop_rate", "number", "Model FLOP Rate (GFLOP/s)"},
        {"measured_memory_bw", "number", "Measured Memory BW (GBytes/Sec)"},
        {"operational_intensity", "number", "Operational Intensity (FLOPs/Byte)"}})
    table_.AddColumn(column);
  if (is_gpu_)
    table_.AddColumn({"gpu_tensorcore_utilization", "number", "GPU TensorCore utilization"});
  table_.AddColumn({"bound_by", "string", "Bound by"});
  table_.AddColumn({"eager", "string", "Execution mode"});
}

void OpTable::AddOps(const OpMetricsDb& db, bool is_device) {
  const double all_us = PicoToMicro(with_idle_ ? db.total_time_ps : db.op_time_ps);
  double sum = 0;
  for (const OpMetrics* op : SortedOps(db, kMostOps)) {
    if (!with_idle_ && op->IsIdle()) continue;
    const double share = Divide(PicoToMicro(op->self_time_ps), all_us);
    sum += share;
    AddRow(*op, is_device, share, sum);
  }
}

void OpTable::AddRow(const OpMetrics& op, bool is_device, double share, double sum) {
  const OpRates roofline = RatesOf(op, stats_);
  const double total_us = PicoToMicro(op.time_ps), self_us = PicoToMicro(op.self_time_ps);
  DataTable::Row row = table_.AddRow();
  row.Number(++rank_)
      .Text(is_device ? "Device" : "Host")
      .Text(op.category)
      .Text(op.name)
      .Number(op.occurrences)
      .Number(total_us)
      .Number(Divide(total_us, op.occurrences))
      .Number(self_us)
      .Number(Divide(self_us, op.occurrences))
      .Number(is_device ? share : 0)
      .Number(is_device ? sum : 0)
      .Number(is_device ? 0 : share)
      .Number(is_device ? 0 : sum)
      .Number(roofline.flop_rate)
      .Number(roofline.model_flop_rate)
      .Number(roofline.memory_rate)
      .Number(roofline.intensity);
  if (is_gpu_) {
    const auto found = is_device ? kernels_.find(op.name) : kernels_.end();
    row.Number(found == kernels_.end() ? 0
                                       : Divide(static_cast<double>(found->second.tensor_core_ns),
                                                static_cast<double>(found->second.total_ns)));
  }
  row.Text(roofline.bound_by).Text(op.is_eager ? "Eager" : "Function");
  is_training_ = is_training_ || IsOfGradient(op.name, op.category);
}

}  // namespace

std::string OpPage(const OpStats& stats) {
  const Kernels kernels = KernelsByOp(stats.kernels);
  return "[" + OpTable(stats, kernels, true).Json() + "," + OpTable(stats, kernels, false).Json() +
         "]";
}

}  // namespace gpuprof::analysis::xprof
