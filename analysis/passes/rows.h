// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What passes do with a table of rows when all are there. One thread.

#pragma once

#include <algorithm>

#include "analysis/steps/statistics.h"

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

// Stores the number of spans, and their times.
template <typename Row>
void FillDurations(const Samples& durations, Row* row) {
  row->set_count(durations.size());
  row->set_total_ns(durations.total());
  row->set_mean_ns(durations.mean());
  row->set_median_ns(durations.median());
  row->set_min_ns(durations.min());
  row->set_max_ns(durations.max());
}

}  // namespace gpuprof::analysis
