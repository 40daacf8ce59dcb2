// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rank_search.h.

#include "analysis/steps/rank_search.h"

#include <algorithm>
#include <bit>

namespace gpuprof::analysis {

RankSearch::RankSearch(int64_t least, int64_t most, uint64_t rank)
    : least_(least),
      range_(static_cast<uint64_t>(most) - static_cast<uint64_t>(least)),
      rank_(rank) {
  Shift();
}

void RankSearch::Narrow(const Counts& counts) {
  size_t at = 0;
  while (at + 1 < counts.size() && rank_ >= counts[at]) rank_ -= counts[at++];
  const uint64_t below = static_cast<uint64_t>(at) << shift_;
  least_ = static_cast<int64_t>(static_cast<uint64_t>(least_) + below);
  range_ = std::min(range_ - std::min(below, range_), (uint64_t{1} << shift_) - 1);
  Shift();
}

void RankSearch::Shift() {
  constexpr uint32_t kBits = std::bit_width(kCounts - 1);
  const uint32_t bits = static_cast<uint32_t>(std::bit_width(range_));
  shift_ = bits > kBits ? bits - kBits : 0;
}

}  // namespace gpuprof::analysis
