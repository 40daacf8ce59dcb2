// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The time that kernels and operations take in steps, by name and by shape. For comparisons of
// recordings: see compare.cc. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/context.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// What a name took in all given steps.
struct NameSums {
  uint64_t count = 0;
  int64_t total_ns = 0;
  std::map<uint64_t, uint64_t> shapes;  // count by a hash of the shape, without unknown shapes
  std::vector<int64_t> step_ns;         // time in each sampled step; empty without steps
};
using SumsByName = std::map<std::string, NameSums>;

struct StepSums {
  SumsByName kernels;  // by demangled name; a kernel belongs to the step that launched it
  SumsByName ops;      // own time; an operation belongs to the step that it began in
};

// Steps whose time is kept one by one.
inline constexpr size_t kSampledSteps = 128;

// Sums up the work of the selected processes. The steps are sorted and disjoint. Without steps, all
// work counts. A kernel whose launch was not recorded belongs to the step that it began in.
StepSums SumSteps(PassContext& context, std::span<const Interval> steps);

// Returns the number of each step among the samples, and -1 for the other steps. At most
// kSampledSteps steps are samples. They are evenly spaced.
std::vector<int> SampledSteps(size_t steps);

}  // namespace gpuprof::analysis
