// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Walks rows of several tracks in order of time; rows of one track keep their order. For passes
// that follow memory from thread to thread.

#pragma once

#include <cstddef>
#include <cstdint>
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
  std::vector<Column<int64_t>::Reader> readers;
  readers.reserve(columns.size());
  for (const Column<int64_t>* column : columns) readers.emplace_back(*column);
  std::vector<size_t> next(columns.size(), 0);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i]->empty()) heads.push({columns[i]->front(), i});
  }
  while (!heads.empty()) {
    const size_t track = heads.top().track;
    heads.pop();
    const size_t rows = columns[track]->size();
    size_t& row = next[track];
    if (heads.empty()) {
      while (row < rows) visit(track, row++);
      break;
    }
    const int64_t until = heads.top().time;
    const Column<int64_t>::Reader& times = readers[track];
    // At least one row, so that equal times cannot stall.
    do {
      visit(track, row++);
    } while (row < rows && times[row] <= until);
    if (row < rows) heads.push({times[row], track});
  }
}

}  // namespace gpuprof::analysis
