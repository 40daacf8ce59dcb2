// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Schedules for tests: each replica computes in turn, with all replicas or alone.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/stragglers/schedule.h"

namespace gpuprof::analysis::test {

// Adds an operation behind the last one. `took`: by step and replica.
inline uint32_t AddOperation(Schedule* schedule, const std::string& type, bool is_shared,
                             std::vector<double> took) {
  const auto index = static_cast<uint32_t>(schedule->operations.size());
  PlannedOperation operation;
  operation.type = static_cast<uint32_t>(schedule->types.size());
  for (uint32_t i = 0; i < schedule->types.size(); ++i)
    if (schedule->types[i] == type) operation.type = i;
  if (operation.type == schedule->types.size()) schedule->types.push_back(type);
  operation.like = index;
  if (index != 0) operation.after = {index - 1};
  if (is_shared) {
    operation.group = static_cast<uint32_t>(schedule->groups.size());
    operation.is_transfer = true;
    schedule->groups.push_back({{index}, true});
  }
  schedule->operations.push_back(operation);
  schedule->durations.push_back(std::move(took));
  return index;
}

inline Schedule MakeSchedule(size_t replicas, size_t steps) {
  Schedule schedule;
  schedule.replicas = replicas;
  for (size_t step = 0; step < steps; ++step) schedule.steps.push_back(step + 10);
  return schedule;
}

}  // namespace gpuprof::analysis::test
