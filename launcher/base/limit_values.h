// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the values of settings that limit a recording's cost, and of those that say what takes a
// snapshot. Each Parse function returns an empty string and fills its result, or returns what is
// wrong and what to write instead. Pure; never prints.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::launcher {

// GPUPROF_BUDGET: one of the two is not 0.
struct Budget {
  uint64_t ppm = 0;      // parts of a million of the run's time
  uint64_t step_ns = 0;  // for each step
};
// Reads 3%, 0.5%, 50us or 2ms.
std::string ParseBudget(std::string_view text, Budget* budget);

// GPUPROF_TRIGGER.
struct Triggers {
  uint64_t step_percent = 0;  // of the median step; 0: not wanted
  uint64_t stall_ns = 0;      // 0: not wanted
  bool at_failed_exit = false;
};
// Reads step:3, step:2.5x, stall:30s and exit, comma separated.
std::string ParseTriggers(std::string_view text, Triggers* triggers);

}  // namespace gpuprof::launcher
