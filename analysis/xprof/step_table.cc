// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tables that several pages have: steps and diagnostics. See input_analysis.h.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/xprof/input_analysis.h"

namespace gpuprof::analysis::xprof {
namespace {

// The average of a kind of time over all steps, and its spread.
void SetSummary(std::string_view name, const std::vector<StepTimes>& steps,
                double (*value)(const StepTimes&), DataTable* table) {
  std::vector<double> values;
  for (const StepTimes& step : steps) values.push_back(value(step));
  const Summary summary = Summarize(values);
  const std::string key(name);
  table->Set(key + "_avg", Digits(summary.average, 1));
  table->Set(key + "_sdv", Digits(summary.deviation, 1));
}

void SetSummaries(const std::vector<StepTimes>& steps, DataTable* table) {
  const auto set = [&](std::string_view name, double (*value)(const StepTimes&)) {
    SetSummary(name, steps, value, table);
  };
  set("device_compute_time_ms", [](const StepTimes& step) { return step.device_compute; });
  set("device_to_device_time_ms", [](const StepTimes& step) { return step.device_to_device; });
  set("device_collectives_time_ms", [](const StepTimes& step) { return step.collectives; });
  set("infeed_time_ms", [](const StepTimes& step) { return step.input(); });
  set("outfeed_time_ms", [](const StepTimes& step) { return step.output; });
  set("host_compute_time_ms", [](const StepTimes& step) { return step.host_compute; });
  set("kernel_launch_time_ms", [](const StepTimes& step) { return step.launch; });
  set("compile_time_ms", [](const StepTimes& step) { return step.compile; });
  set("other_time_ms", [](const StepTimes& step) { return step.unknown; });
}

std::string Tooltip(const StepTimes& step) {
  std::string text = "Step " + step.name + ", duration: " + Digits(step.step, 2) + " ms";
  const auto add = [&](std::string_view label, double ms) {
    text += "\n-" + std::string(label) + ": " + Digits(ms, 2) + " ms";
  };
  add("All others", step.unknown);
  add("Compilation", step.compile);
  add("Output", step.output);
  add("Input", step.input());
  add("Kernel launch", step.launch);
  add("Host compute", step.host_compute);
  add("Device collectives", step.collectives);
  add("Device to device", step.device_to_device);
  add("Device compute", step.device_compute);
  return text;
}

}  // namespace

DataTable StepTable(const InputAnalysis& analysis) {
  DataTable table({{"stepnum", "string", "Step number"},
                   {"deviceComputeTimeMs", "number", "Device compute"},
                   {"deviceToDeviceTimeMs", "number", "Device to device"},
                   {"deviceCollectivesTimeMs", "number", "Device collective communication"},
                   {"hostComputeTimeMs", "number", "Host compute"},
                   {"kernelLaunchTimeMs", "number", "Kernel launch"},
                   {"infeedTimeMs", "number", "Input"},
                   {"outfeedTimeMs", "number", "Output"},
                   {"compileTimeMs", "number", "Compilation"},
                   {"otherTimeMs", "number", "All others"},
                   {"tooltip", "string", "tooltip", "tooltip"},
                   {"stepTimeMs", "number", "Step time"}});
  table.Set("step_time_graph_column_ids",
            "stepnum,deviceComputeTimeMs,deviceToDeviceTimeMs,deviceCollectivesTimeMs,"
            "hostComputeTimeMs,kernelLaunchTimeMs,infeedTimeMs,outfeedTimeMs,compileTimeMs,"
            "otherTimeMs, tooltip");
  table.Set("hardware_type", analysis.hardware);
  table.Set("steptime_ms_average", Digits(analysis.step_time.average, 1));
  table.Set("steptime_ms_standard_deviation", Digits(analysis.step_time.deviation, 1));
  table.Set("steptime_ms_minimum", Digits(analysis.step_time.minimum, 1));
  table.Set("steptime_ms_maximum", Digits(analysis.step_time.maximum, 1));
  SetSummaries(analysis.steps, &table);
  // The page has the statement where its name says that a word stands.
  const Verdict& verdict = analysis.verdict;
  table.Set("input_conclusion", verdict.input_statement);
  table.Set("device_collectives_bottleneck", verdict.collectives_statement);
  table.Set("device_collectives_statement", verdict.collectives_statement);
  table.Set("kernel_launch_bottleneck", verdict.launch_statement);
  table.Set("kernel_launch_statement", verdict.launch_statement);
  table.Set("all_other_bottleneck", verdict.other_statement);
  table.Set("all_other_statement", verdict.other_statement);
  table.Set("summary_nextstep", analysis.next_step);
  for (const StepTimes& step : analysis.steps) {
    table.AddRow()
        .Text(step.name)
        .Number(step.device_compute)
        .Number(step.device_to_device)
        .Number(step.collectives)
        .Number(step.host_compute)
        .Number(step.launch)
        .Number(step.input())
        .Number(step.output)
        .Number(step.compile)
        .Number(step.unknown)
        .Text(Tooltip(step))
        .Number(step.step);
  }
  return table;
}

DataTable DiagnosticsTable(const std::vector<std::string>& warnings,
                           const std::vector<std::string>& errors) {
  DataTable table({{"severity", "string", "Severity"}, {"message", "string", "Message"}});
  for (const std::string& warning : warnings) table.AddRow().Text("WARNING").Text(warning);
  for (const std::string& error : errors) table.AddRow().Text("ERROR").Text(error);
  return table;
}

}  // namespace gpuprof::analysis::xprof
