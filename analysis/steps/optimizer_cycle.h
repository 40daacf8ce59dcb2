// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How many optimizer steps make one training step: more than one where several networks are trained
// in turn (GANs), whose optimizers may share one name. For the step detector; pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/base/column.h"
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
};

// `op_ends`: ends of all ops of the thread, ascending. Two optimizer steps are the same one again
// when their names agree and about as many ops ran before each; the shortest period of at most four
// that holds wins.
OptimizerCycle FindOptimizerCycle(const std::vector<Mark>& optimizer,
                                  const Column<int64_t>& op_ends);

}  // namespace gpuprof::analysis
