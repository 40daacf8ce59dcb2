// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What passes do with a table of rows when all are there. One thread.

#pragma once

#include <algorithm>

namespace gpuprof::analysis {

// Sorts by the largest figure first; equal rows keep their order.
template <typename Rows, typename Figure>
void SortFalling(Rows* rows, Figure figure) {
  std::stable_sort(rows->pointer_begin(), rows->pointer_end(),
                   [&](const auto* x, const auto* y) { return figure(*x) > figure(*y); });
}

template <typename Rows>
void SortByTotal(Rows* rows) {
  SortFalling(rows, [](const auto& row) { return row.total_ns(); });
}

}  // namespace gpuprof::analysis
