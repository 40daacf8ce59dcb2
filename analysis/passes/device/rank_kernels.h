// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether a rank that is slow runs the same kernels as others for longer, or has more work. One
// thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/passes/context.h"
#include "analysis/passes/device/rank_lanes.h"

namespace gpuprof::analysis {

// A rank that is compared with others.
struct KernelQuestion {
  size_t lane = 0;
  std::vector<size_t> others;  // lanes
  // By lane: the steps that count, as indices of its own.
  std::vector<std::vector<size_t>> steps;
  LanePhase phase = LanePhase::kOther;
};

struct KernelAnswer {
  double same_ratio = 0;  // of the extra time: kernels that others run, too, took longer
  std::string kernel;     // with most of the extra time
};

// Compares the kernels of a phase. None: no kernel of the phase was recorded, or the rank's kernels
// take no longer than those of others.
std::optional<KernelAnswer> CompareKernels(PassContext& context, const RankLanes& lanes,
                                           const KernelQuestion& question);

}  // namespace gpuprof::analysis
