// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Puts tables of millions of rows into one order. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::analysis {

// Moves row from[i] of each table to place i. One table at a time is in memory twice: moving the
// rows in place, along the cycles of the order, takes several times as long.
template <typename... Rows>
void Reorder(const std::vector<uint32_t>& from, std::vector<Rows>*... tables) {
  const auto reorder = [&from](auto* rows) {
    auto sorted = *rows;
    for (size_t i = 0; i < from.size(); ++i) sorted[i] = (*rows)[from[i]];
    rows->swap(sorted);
  };
  (reorder(tables), ...);
}

}  // namespace gpuprof::analysis
