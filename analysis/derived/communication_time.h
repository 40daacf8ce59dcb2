// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How long the devices of ranks communicated, and what part computing hid. Pure, any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/derived/arrivals.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

struct CommunicationTime {
  int64_t total_ns = 0;
  int64_t hidden_ns = 0;  // kernels that are not collectives ran at the same time
};

// A rank that sends to other stages of a pipeline, or receives.
struct StageTime {
  size_t rank = 0;
  uint64_t message_count = 0;
  uint64_t window_count = 0;  // steps, or 1
  // From the first message of a step to the end of the last one, or of the computing between.
  int64_t window_ns = 0;
  int64_t bubble_ns = 0;  // the device neither computed nor was in another collective
};

struct CommunicationTimes {
  std::vector<CommunicationTime> ranks;   // by rank
  std::vector<CommunicationTime> groups;  // by Arrivals::groups, of all members
  std::vector<StageTime> stages;
};

// Finds the times of kernels. Empty: arrivals are calls of the host. `steps`: of each rank's
// process, by rank; sorted and disjoint. A rank without steps is one window.
CommunicationTimes FindCommunicationTimes(const std::vector<JobRank>& ranks,
                                          const Arrivals& arrivals,
                                          const std::vector<std::vector<Interval>>& steps);

}  // namespace gpuprof::analysis
