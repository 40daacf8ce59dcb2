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

// Calls visit(track, first, end) for runs of rows of one track. The columns are ascending.
template <typename Visit>
void MergeRunsByTime(const std::vector<const Column<int64_t>*>& columns, const Visit& visit) {
  struct Head {
    int64_t time;
    size_t track;
    bool operator<(const Head& other) const {  // the queue hands out the greatest
      return time != other.time ? time > other.time : track > other.track;
    }
  };
  std::priority_queue<Head> heads;
  std::vector<size_t> next(columns.size(), 0);
  std::vector<Column<int64_t>::Reader> readers;
  readers.reserve(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    readers.emplace_back(*columns[i]);
    if (!columns[i]->empty()) heads.push({columns[i]->front(), i});
  }
  while (!heads.empty()) {
    const size_t track = heads.top().track;
    heads.pop();
    const size_t rows = columns[track]->size();
    const size_t first = next[track];
    if (heads.empty()) return visit(track, first, rows);
    const int64_t until = heads.top().time;
    const Column<int64_t>::Reader& times = readers[track];
    // At least one row, so that equal times cannot stall.
    size_t end = first + 1;
    while (end < rows && times[end] <= until) ++end;
    visit(track, first, end);
    next[track] = end;
    if (end < rows) heads.push({times[end], track});
  }
}

// Calls visit(track, row) for each element of the columns, which are ascending.
template <typename Visit>
void MergeByTime(const std::vector<const Column<int64_t>*>& columns, const Visit& visit) {
  MergeRunsByTime(columns, [&](size_t track, size_t first, size_t end) {
    for (size_t row = first; row < end; ++row) visit(track, row);
  });
}

}  // namespace gpuprof::analysis
