// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How far the clocks of the ranks of a job are apart. All ranks have the result of a collective at
// nearly the same time, so their ends tell. Groups that share a rank lead from one rank to the
// next. Ranks that send messages alone are put between two bounds: a message is not received before
// it is sent. Pure, any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/derived/communicators.h"

namespace gpuprof::analysis {

struct RankClocks {
  struct Clock {
    int64_t offset_ns = 0;  // is added to the rank's times
    int64_t error_ns = 0;   // how far they may be wrong against those of the first rank
    // Messages left this part. Ranks that collectives join have it in common.
    int64_t message_error_ns = 0;
    uint32_t joined = 0;  // ranks that collectives join have one number
    // Ranks of one set can be compared. Those of two sets cannot.
    uint32_t set = 0;
    bool is_own = false;  // not the clock of the first rank of the set
  };
  std::vector<Clock> clocks;  // by rank

  // Returns how far times of the members may be wrong against each other.
  int64_t ErrorOf(const Communicator& group) const;
  // Returns whether the members can be compared.
  bool AreOfOneSet(const Communicator& group) const;
};

RankClocks FindRankClocks(const std::vector<JobRank>& ranks,
                          const std::vector<Communicator>& groups);

}  // namespace gpuprof::analysis
