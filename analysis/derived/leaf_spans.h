// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which of nested rows is the innermost at each moment. Pure, any thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/base/column.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

struct LeafSpan {
  Interval span;
  uint32_t row = 0;
};

// Returns spans that are sorted and disjoint. Both columns are of one table. A row that begins
// later is further inside.
std::vector<LeafSpan> LeafSpans(const Column<int64_t>& end_ns, const Column<int64_t>& duration_ns);

// Calls visit(row, ns) for the spans within the window.
template <typename Visit>
void ForEachLeafIn(const std::vector<LeafSpan>& spans, Interval window, const Visit& visit) {
  auto at =
      std::upper_bound(spans.begin(), spans.end(), window.start,
                       [](int64_t time, const LeafSpan& each) { return time < each.span.end; });
  for (; at != spans.end() && at->span.start < window.end; ++at)
    visit(at->row, std::min(at->span.end, window.end) - std::max(at->span.start, window.start));
}

}  // namespace gpuprof::analysis
