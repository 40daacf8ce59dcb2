// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rows of a stream that begin later than a row, as far as they tell whether the row's end is
// possible. Rows are added from the last to the first. Rows of one launch do not judge each other.

#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/model/builder.h"

namespace gpuprof::analysis::import {

class LaterRows {
 public:
  // What the rows of other launches have. INT64_MAX: other launches have no row.
  struct Others {
    int64_t earliest_end = INT64_MAX;
    int64_t next_start = INT64_MAX;
  };

  // Returns what counts for a row of the launch, a correlation id. Each row without an id, 0, is of
  // a launch of its own.
  Others OfOthers(int64_t launch) const {
    Others others;
    others.earliest_end = IsSame(launch, end_launch_) ? second_end_ : end_;
    others.next_start = IsSame(launch, start_launch_) ? second_start_ : start_;
    return others;
  }

  void Add(int64_t launch, SpanNs span) {
    if (!IsSame(launch, start_launch_)) second_start_ = start_;
    start_ = span.start;
    start_launch_ = launch;
    if (IsSame(launch, end_launch_)) {
      end_ = std::min(end_, span.end);
    } else if (span.end < end_) {
      second_end_ = end_;
      end_ = span.end;
      end_launch_ = launch;
    } else {
      second_end_ = std::min(second_end_, span.end);
    }
  }

 private:
  static bool IsSame(int64_t x, int64_t y) { return x == y && x != 0; }

  // The earliest end, and the earliest one of another launch than that.
  int64_t end_ = INT64_MAX, second_end_ = INT64_MAX;
  int64_t end_launch_ = 0;
  // The start of the next row, and of the next one of another launch than that.
  int64_t start_ = INT64_MAX, second_start_ = INT64_MAX;
  int64_t start_launch_ = 0;
};

// Cuts a row with an impossible end at the start of the next row of another launch. Work of one
// stream completes in order: an end well behind a whole later row of another launch is impossible.
// A kernel may begin before the previous kernel ends. Returns whether the row was cut.
inline bool CutImpossibleEnd(const LaterRows::Others& others, SpanNs* span) {
  constexpr int64_t kSlackNs = 1000;
  if (others.earliest_end >= span->end - kSlackNs) return false;
  span->end = std::max(span->start, others.next_start);
  return true;
}

}  // namespace gpuprof::analysis::import
