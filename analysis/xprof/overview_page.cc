// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// OverviewPage: XProf's overview_page.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/xprof/data_table.h"
#include "analysis/xprof/figures.h"
#include "analysis/xprof/input_analysis.h"
#include "analysis/xprof/pages.h"

namespace gpuprof::analysis::xprof {
namespace {

constexpr size_t kTopOps = 10;

bool IsGpu(const OpStats& stats) { return stats.device_type.find("GPU") != std::string::npos; }

double PercentOf(uint64_t part, uint64_t all) {
  return 100.0 * Divide(static_cast<double>(part), static_cast<double>(all));
}

// How many operations ran, and how much of their time was eager.
struct OpSums {
  uint64_t count = 0, time_ps = 0, eager_ps = 0;
};

OpSums SumsOf(const OpMetricsDb& db) {
  OpSums sums;
  for (const OpMetrics& op : db.ops) {
    sums.count += op.occurrences;
    if (op.IsIdle()) continue;
    sums.time_ps += op.self_time_ps;
    if (op.is_eager) sums.eager_ps += op.self_time_ps;
  }
  return sums;
}

void SetShares(const OpStats& stats, const OpMetricsDb& device_ops, DataTable* table) {
  const OpSums host = SumsOf(stats.host_ops), device = SumsOf(device_ops);
  const uint64_t all = host.count + device.count;
  table->Set("host_trace_level", "0");
  table->Set("host_tf_op_percent", Percent(PercentOf(host.count, all)));
  table->Set("device_tf_op_percent", Percent(PercentOf(device.count, all)));
  table->Set("host_op_time_eager_percent", Percent(PercentOf(host.eager_ps, host.time_ps)));
  table->Set("device_op_time_eager_percent", Percent(PercentOf(device.eager_ps, device.time_ps)));
  table->Set("remark_text", "");
  table->Set("remark_color", "");
  table->Set("mxu_utilization_percent", Percent(stats.mxu_percent));
  table->Set("hbm_utilization_percent", Percent(stats.hbm_percent));
  if (IsGpu(stats)) {
    const uint64_t compute_ps = stats.compute_16bit_ps + stats.compute_32bit_ps;
    table->Set("device_compute_16bit_percent",
               Percent(PercentOf(stats.compute_16bit_ps, compute_ps)));
    table->Set("device_compute_32bit_percent",
               Percent(PercentOf(stats.compute_32bit_ps, compute_ps)));
    return;
  }
  // These are of TPUs.
  for (const char* name :
       {"flop_rate_utilization_relative_to_roofline", "memory_bw_utilization_relative_to_hw_limit",
        "device_idle_time_percent", "device_duty_cycle_percent",
        "device_duty_cycle_high_confidence_percent", "host_idle_time_percent"})
    table->Set(name, Percent(0));
}

DataTable AnalysisTable(const OpStats& stats) {
  const bool is_gpu = IsGpu(stats);
  const OpMetricsDb ops = FrameworkOps(stats.device_ops, false);
  const auto kernels = KernelsByOp(stats.kernels);
  DataTable table(
      {{"selfTimePercent", "number", "Time (%)"},
       {"cumulativeTimePercent", "number", "Cumulative time (%)"},
       {"category", "string", "Category"},
       {"operation", "string", "Operation"},
       {"flopRate", "number", is_gpu ? "GFLOPs/Sec" : "Bf16 Normalized Flop Rate(GFLOPs/Sec)"}});
  if (is_gpu) {
    table.AddColumn({"tcEligibility", "boolean", "TensorCore eligibility"});
    table.AddColumn({"tcUtilization", "boolean", "Op is using TensorCore"});
  }
  SetShares(stats, ops, &table);
  double sum = 0;
  for (const OpMetrics* op : SortedOps(ops, kTopOps)) {
    const double share =
        Divide(static_cast<double>(op->self_time_ps), static_cast<double>(ops.total_time_ps));
    sum += share;
    DataTable::Row row = table.AddRow();
    row.Number(share)
        .Number(sum)
        .Text(op->category)
        .Text(op->name)
        .Number(Divide(op->flops, PicoToNano(op->time_ps)));
    if (!is_gpu) continue;
    const auto found = kernels.find(op->name);
    const bool has_kernels = found != kernels.end();
    row.Bool(has_kernels && found->second.is_eligible)
        .Bool(has_kernels && found->second.tensor_core_ns != 0);
  }
  return table;
}

DataTable EnvironmentTable(const OpStats& stats) {
  DataTable table({{"host_id", "string", "host_id"},
                   {"command_line", "string", "command_line"},
                   {"start_time", "string", "start_time"},
                   {"bns_address", "string", "bns_address"}});
  const size_t hosts = stats.hostnames.size();
  table.Set("host_count", std::to_string(hosts));
  table.Set("task_count", std::to_string(stats.tasks) + " (num tasks per host = " +
                              std::to_string(stats.tasks / hosts) + ")");
  table.Set("device_type", stats.device_type);
  table.Set("device_core_count", std::to_string(stats.device_cores));
  table.Set("is_training", stats.is_training ? "true" : "false");
  return table;
}

// Says so if nearly all of the device's work is on 32 bits.
std::string PrecisionStatement(const OpStats& stats) {
  constexpr double kFew = 10;
  const uint64_t all = stats.compute_16bit_ps + stats.compute_32bit_ps;
  if (all == 0) return "";
  const double percent =
      (100.0 * static_cast<double>(stats.compute_16bit_ps)) / static_cast<double>(all);
  if (!(percent < kFew)) return "";
  return "Only " + Digits(percent, 1) +
         "% of device computation is 16 bit. So you might want to replace more 32-bit Ops by "
         "16-bit Ops to improve performance (if the reduced accuracy is acceptable).";
}

DataTable RecommendationTable(const OpStats& stats, const Verdict& verdict) {
  DataTable table({{"tip_type", "string", "tip_type"},
                   {"link", "string", "link"},
                   {"description", "string", "description"}});
  const std::string device = HardwareName(stats.hardware);
  const auto add = [&](std::string_view type, const std::string& link, std::string_view text) {
    table.AddRow().Text(type).Text(link).Text(text);
  };
  constexpr std::string_view kHost = "Next steps for reducing the Host time",
                             kDevice = "Next steps for reducing the Device time",
                             kOther = "Other useful resources";
  add("faq", "Refer to the TF2 Profiler FAQ", "Tool troubleshooting / FAQ");
  add("host",
      "input_pipeline_analyzer (especially Section 3 for the breakdown of input operations on the "
      "Host)",
      kHost);
  add("host",
      "trace_viewer (look at the activities on the timeline of each Host Thread near the bottom of "
      "the trace view)",
      kHost);
  add("device",
      "framework_op_stats (identify the time-consuming operations executed on the " + device + ")",
      kDevice);
  add("device",
      "trace_viewer (look at the activities on the timeline of each " + device +
          " in the trace view)",
      kDevice);
  add("doc",
      Link("https://www.tensorflow.org/guide/data_performance_analysis",
           "Analyze tf.data performance with the TF Profiler"),
      kOther);
  add("doc",
      Link("https://www.tensorflow.org/guide/data_performance",
           "Better performance with the tf.data API"),
      kOther);
  table.Set("bottleneck", verdict.input);
  table.Set("statement", verdict.input_statement);
  table.Set("kernel_launch_bottleneck", verdict.launch);
  table.Set("kernel_launch_statement", verdict.launch_statement);
  table.Set("all_other_bottleneck", verdict.other);
  table.Set("all_other_statement", verdict.other_statement);
  table.Set("precision_statement", PrecisionStatement(stats));
  table.Set("device_collectives_bottleneck", verdict.collectives);
  table.Set("device_collectives_statement", verdict.collectives_statement);
  table.Set("non_bottleneck_tip_types", verdict.input == "host"     ? "device"
                                        : verdict.input == "device" ? "host"
                                                                    : "");
  return table;
}

}  // namespace

std::string RemarkOnOverview(const OpStats& stats) {
  if (stats.is_training || stats.requests == 0) return "";
  return "the table of latencies is left empty: XProf's latencies of requests are not covered, and "
         "the program has " +
         std::to_string(stats.requests) + " events of requests";
}

std::string OverviewPage(const OpStats& stats) {
  const InputAnalysis analysis = AnalyzeInput(stats);
  const DataTable latency(
      {{"percentile", "string", "percentile"},
       {"hostTimeMs", "number", "Host time (in ms)"},
       {"deviceTimeMs", "number", "Device time (in ms)"},
       {"communicationTimeMs", "number", "Host-device communication time (in ms)"},
       {"totalTimeMs", "number", "Total latency (in ms)"}});
  std::vector<std::string> warnings = stats.warnings, errors = stats.errors;
  warnings.insert(warnings.end(), analysis.warnings.begin(), analysis.warnings.end());
  std::sort(errors.begin(), errors.end());
  return "[" + AnalysisTable(stats).Json() + "," + StepTable(analysis).Json() + "," +
         EnvironmentTable(stats).Json() + "," +
         RecommendationTable(stats, analysis.verdict).Json() + "," + latency.Json() + ", {}," +
         DiagnosticsTable(warnings, errors).Json() + "]";
}

}  // namespace gpuprof::analysis::xprof
