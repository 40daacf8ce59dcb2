// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Walks the operations of a thread as they nest, in one pass. Pure; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/steps/op_tree.h"

namespace gpuprof::analysis {

// Calls enter(row) for each row before the rows in it, and leave(row) behind them. Rows that lie in
// nothing and have nothing in them come last.
template <typename Enter, typename Leave>
void WalkOps(const OpTree& tree, const Enter& enter, const Leave& leave) {
  std::vector<bool> has_rows(tree.rows(), false);
  for (uint32_t row = 0; row < tree.rows(); ++row) {
    if (tree.parent(row) != OpTree::kNone) has_rows[tree.parent(row)] = true;
  }
  // A range that crosses others is alone. It comes while rows around it are open, and they stay so.
  const auto is_alone = [&](uint32_t row) {
    return tree.parent(row) == OpTree::kNone && !has_rows[row];
  };
  std::vector<uint32_t> open;
  for (size_t i = 0; i < tree.rows(); ++i) {
    const uint32_t row = tree.in_order(i);
    if (is_alone(row)) continue;
    for (; !open.empty() && open.back() != tree.parent(row); open.pop_back()) leave(open.back());
    enter(row);
    open.push_back(row);
  }
  for (; !open.empty(); open.pop_back()) leave(open.back());
  for (uint32_t row = 0; row < tree.rows(); ++row) {
    if (!is_alone(row)) continue;
    enter(row);
    leave(row);
  }
}

// Calls take(i, open) for each of the sorted times at which rows are open, the last time first.
// `open`: these rows, the outermost first.
template <typename Times, typename Take>
void VisitOpenOps(const Times& times, const OpTree& tree, const Take& take) {
  std::vector<uint32_t> open;
  size_t next = 0;
  for (size_t i = times.size(); i-- > 0;) {
    const int64_t time = times[i];
    for (; next < tree.rows() && tree.end(tree.in_order(next)) > time; ++next) {
      const uint32_t row = tree.in_order(next);
      while (!open.empty() && open.back() != tree.parent(row)) open.pop_back();
      open.push_back(row);
    }
    while (!open.empty() && tree.start(open.back()) > time) open.pop_back();
    if (!open.empty()) take(i, open);
  }
}

}  // namespace gpuprof::analysis
