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

}  // namespace gpuprof::analysis
