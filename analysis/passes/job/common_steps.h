// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The steps that all ranks of a job have. Steps belong together if the program gave them the same
// number. Without numbers of the program, steps belong together that lie at the same time, by the
// aligned clocks. Pure; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/passes/job/rank_times.h"

namespace gpuprof::analysis {

// One step of the job.
struct CommonStep {
  uint64_t number = 0;           // as the first rank counts
  std::vector<uint32_t> places;  // by rank: index in RankSteps::steps
};

// Returns the common steps by time. Empty: no step is common.
std::vector<CommonStep> FindCommonSteps(const JobSteps& job);

}  // namespace gpuprof::analysis
