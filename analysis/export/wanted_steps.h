// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Chooses the steps that a report should show before all others. Their events stay in a report that
// is too large, and their results are in the page. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/steps/interval.h"
#include "proto/results/advice.pb.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

struct WantedStep {
  Interval window;  // of the host and of the devices
  uint64_t number = 0;
  std::string why;  // "the longest"; empty: it is near the typical step
  std::string Words() const { return std::to_string(number) + (why.empty() ? "" : ", ") + why; }
};

// Returns steps of the leading thread, the most wanted first: the typical step, the longest one,
// and steps that findings lead to. Outliers follow, then the neighbours of the typical step.
std::vector<WantedStep> WantedSteps(const results::Steps& steps, const results::Advice& advice);

}  // namespace gpuprof::analysis
