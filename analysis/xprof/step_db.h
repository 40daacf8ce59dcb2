// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The steps of one host, and those that all hosts of a run share. Pure functions, any thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/xprof/step_events.h"

namespace gpuprof::analysis::xprof {

// A step on one host; XProf takes all GPUs of a host for one core.
struct StepInfo {
  uint32_t number = 0;
  std::string name;
  uint64_t begin_ps = 0, duration_ps = 0;
  std::map<StepTime, uint64_t> time_ps;
};

// A step on all hosts, by the number of the core: 1000 times the number of the host, plus 1.
struct Step {
  std::map<uint32_t, StepInfo> cores;
};
inline constexpr uint32_t kCore = 1;
inline constexpr uint32_t kCoresOfHost = 1000;

struct StepDb {
  std::vector<Step> steps;
  bool has_no_common_step = false;
};

// Makes steps of swept events. A step without device work, or without host work if there is no
// device, is left out.
StepDb MakeStepDb(const StepEvents& swept, bool has_device);

// Aligns the steps of several hosts and keeps those that all hosts have. `hosts`: those that count,
// by their number in the run.
StepDb CommonSteps(const std::map<uint32_t, const StepDb*>& hosts);

}  // namespace gpuprof::analysis::xprof
