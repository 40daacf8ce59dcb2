// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the overview and the page of the input pipeline share: the steps by kind of time, the
// operations that bring input, and the verdict. Pure functions, any thread.

#pragma once

#include <string>
#include <vector>

#include "analysis/xprof/data_table.h"
#include "analysis/xprof/figures.h"
#include "analysis/xprof/op_stats.h"

namespace gpuprof::analysis::xprof {

// Milliseconds of one step.
struct StepTimes {
  std::string name;
  double step = 0, unknown = 0, wait_input = 0, host_to_device = 0, output = 0;
  double device_compute = 0, device_to_device = 0, collectives = 0;
  double host_compute = 0, launch = 0;
  double compile = 0;  // no event is of this kind

  double input() const { return wait_input + host_to_device; }
};

// An operation that brings input.
struct InputOp {
  std::string name, category;
  uint32_t count = 0;
  double time_ms = 0, self_ms = 0, time_percent = 0, self_percent = 0;
};

// Microseconds of the input's kinds of work.
struct InputTimes {
  double enqueue = 0, demanded_read = 0, advanced_read = 0, preprocessing = 0, unclassified = 0;

  bool has_tf_data() const { return demanded_read > 0 || advanced_read > 0 || preprocessing > 0; }
};

// What limits the program: "host", "both", "device" or "unknown"; "no", "moderate" or "high".
struct Verdict {
  std::string input, input_statement;
  std::string collectives = "no", collectives_statement;
  std::string launch = "no", launch_statement;
  std::string other = "no", other_statement;
};

struct InputAnalysis {
  std::string hardware;
  Summary step_time;
  std::vector<StepTimes> steps;
  std::vector<InputOp> ops;
  InputTimes times;
  Verdict verdict;
  std::string next_step;
  std::vector<std::string> warnings;
};

InputAnalysis AnalyzeInput(const OpStats& stats);
// Makes the table of steps, as both pages have it.
DataTable StepTable(const InputAnalysis& analysis);
DataTable DiagnosticsTable(const std::vector<std::string>& warnings,
                           const std::vector<std::string>& errors);

// Returns what XProf says of a run without steps. Empty: the run has steps.
std::vector<std::string> StepWarnings(const StepDb& steps);

std::string HardwareName(Hardware hardware);
// Returns a link, as the pages of a browser have it.
std::string Link(std::string_view address, std::string_view text);

}  // namespace gpuprof::analysis::xprof
