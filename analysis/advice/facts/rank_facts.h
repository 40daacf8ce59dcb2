// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What rules about several ranks of one recording look at. A rank is a device of a process. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/advice/facts/pieces.h"

namespace gpuprof::analysis {

struct RankPlace {
  std::string name;  // of the process
  int32_t pid = 0;
  uint32_t device = 0;
};

struct RankFacts {
  size_t rank_count = 0;
  // Longest kernels, and shortest, without collectives, in the mean step of a rank.
  RankPlace slowest, fastest;
  int64_t slowest_ns = 0, fastest_ns = 0, mean_ns = 0;
};

// The rank that comes last to collectives again and again.
struct LateRank {
  std::string name;  // "train.py rank 3"
  int32_t pid = 0;
  std::string host;
  std::optional<uint32_t> device;  // none: arrivals are calls of the host
  size_t rank_count = 0;
  // Some collectives make up most of all leads. `count`: it was last in so many of them.
  uint64_t count = 0, of = 0;
  int64_t lead_ns = 0;    // from the arrival of the rank before it to its own, summed
  int64_t caused_ns = 0;  // what the others waited for it
  Instance longest;       // its longest lead
};

}  // namespace gpuprof::analysis
