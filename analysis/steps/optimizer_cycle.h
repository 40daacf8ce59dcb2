// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How many optimizer steps make one training step: more than one where several networks are trained
// in turn (GANs), whose optimizers may share one name. For the step detector; pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// One occurrence of an op that bounds steps.
struct Mark {
  Interval span;
  uint32_t name = 0;  // string id
};

struct OptimizerCycle {
  size_t length = 1;
  bool certain = true;
  // Above 1: of so many optimizer steps always the same one takes longest, although all do the same
  // work. Then they may belong to different networks, and together make one step.
  size_t rhythm = 1;
};

// Finds the cycle of a thread's optimizer steps. Two are the same one again when their names agree
// and about as many operations ran before each. Two are different when the names of operations
// before them are: each has some that the other lacks. The shortest period of at most four wins.
// Different names that alternate are a cycle by themselves, from the second round on.
OptimizerCycle FindOptimizerCycle(const std::vector<Mark>& optimizer, const OpTable& ops);

}  // namespace gpuprof::analysis
