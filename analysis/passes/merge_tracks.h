// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Walks rows of several tracks in order of time; rows of one track keep their order. For passes
// that follow memory from thread to thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include "analysis/base/column.h"

namespace gpuprof::analysis {

// Calls visit(track, row) for each element of the columns, which are ascending.
template <typename Visit>
void MergeByTime(const std::vector<const Column<int64_t>*>& columns, const Visit& visit) {
  struct Head {
    int64_t time;
    size_t track;
    bool operator<(const Head& other) const {  // the queue hands out the greatest
      return time != other.time ? time > other.time : track > other.track;
    }
  };
  std::priority_queue<Head> heads;
  std::vector<size_t> next(columns.size(), 0);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i]->empty()) heads.push({columns[i]->front(), i});
  }
  while (!heads.empty()) {
    const size_t track = heads.top().track;
    heads.pop();
    const int64_t until = heads.empty() ? std::numeric_limits<int64_t>::max() : heads.top().time;
    const Column<int64_t>& times = *columns[track];
    size_t& row = next[track];
    // At least one row, so that equal times cannot stall.
    do {
      visit(track, row++);
    } while (row < times.size() && times[row] <= until);
    if (row < times.size()) heads.push({times[row], track});
  }
}

}  // namespace gpuprof::analysis
