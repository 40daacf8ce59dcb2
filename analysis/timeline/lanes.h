// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The lanes of a track's spans. Spans come by their start; of those that begin together the longest
// comes first. Each takes the first lane that is free. So spans that nest get their depth, and
// spans that cross are next to each other. Spans of one lane never overlap. One thread.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace gpuprof::analysis::timeline {

// More spans at one moment share the last lane.
inline constexpr size_t kMostLanes = 256;

class Lanes {
 public:
  Lanes() { ends_.fill(-std::numeric_limits<double>::infinity()); }

  uint8_t Take(double start, double end) {
    size_t top = top_;
    while (top > 0 && ends_[top - 1] <= start) --top;
    size_t lane = 0;
    while (lane < top && ends_[lane] > start) ++lane;
    lane = std::min(lane, kMostLanes - 1);
    ends_[lane] = end;
    top_ = lane >= top ? lane + 1 : top;
    most_ = std::max(most_, top_);
    return static_cast<uint8_t>(lane);
  }

  // Returns the number of lanes that were ever taken.
  size_t most() const { return most_; }
  // Returns when the last span of a lane ends.
  double EndOf(size_t lane) const { return ends_[lane]; }

 private:
  std::array<double, kMostLanes> ends_;
  size_t top_ = 0;
  size_t most_ = 0;
};

}  // namespace gpuprof::analysis::timeline
