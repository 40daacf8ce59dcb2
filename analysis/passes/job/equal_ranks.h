// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Groups of ranks whose mean steps hardly differ, by what the ranks do themselves. Waiting mirrors
// what other ranks do, so it does not count. Pure; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/passes/job/rank_times.h"

namespace gpuprof::analysis {

struct RankGroup {
  std::vector<size_t> ranks;  // indices, ascending
  RankTimes mean = {};
  // The part in which it differs most from the first group. None: it is the first group, or no
  // group has most of the ranks.
  std::optional<RankTime> outlier_time;
};

// Groups ranks by their mean steps, the largest group first. `errors`: the standard errors of the
// means, as many. `knows_waits`: waits for other ranks are apart, so kOther is the rank's own.
// Ranks of a group differ from its centre in no part by more than some errors, or by a small share
// of a step. At most kMostRankGroups: with more kinds of ranks, groups are wider.
inline constexpr size_t kMostRankGroups = 12;
std::vector<RankGroup> GroupRanks(std::span<const RankTimes> means,
                                  std::span<const RankTimes> errors, bool knows_waits);

// Writes ranks by their numbers: "rank 137", "ranks 0 to 136, 138 to 255", "ranks 0 to 56, every
// 8th". Numbers rise.
std::string RankWords(std::span<const uint32_t> numbers);

}  // namespace gpuprof::analysis
