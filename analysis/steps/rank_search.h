// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the value of a rank among values that are too many to be kept and sorted: exact, nothing
// interpolated. The values are counted again and again, each time in a narrower range, until the
// range is one value. A thousandfold narrower each time: two or three times are usual.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::analysis {

class RankSearch {
 public:
  // Begins a search among values from `least` to `most`. `rank` counts from 0, and is less than the
  // number of values.
  RankSearch(int64_t least, int64_t most, uint64_t rank);

  bool is_found() const { return range_ == 0; }
  // Returns the value that was searched.
  int64_t value() const { return least_; }

  // Adds a value to the counts of a round. Each round must count all values. Several threads may
  // count into counts of their own.
  using Counts = std::vector<uint64_t>;
  static constexpr size_t kCounts = 1024;
  void Count(int64_t value, uint64_t weight, Counts* counts) const {
    const uint64_t distance = static_cast<uint64_t>(value) - static_cast<uint64_t>(least_);
    if (distance <= range_) (*counts)[distance >> shift_] += weight;
  }
  // Ends a round.
  void Narrow(const Counts& counts);

 private:
  void Shift();

  int64_t least_;
  uint64_t range_;  // the value is at most so much greater
  uint64_t rank_;   // among the values of the range
  uint32_t shift_ = 0;
};

}  // namespace gpuprof::analysis
