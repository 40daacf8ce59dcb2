// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See layers.h.

#include "analysis/derived/layers.h"

#include <algorithm>

namespace gpuprof::analysis {
namespace {

// Adds the parts of `list` that nothing in `top` covers.
std::vector<LayerSpan> AddBelow(const std::vector<LayerSpan>& top,
                                const std::vector<Interval>& list, uint32_t layer) {
  std::vector<LayerSpan> all;
  all.reserve(top.size() + list.size());
  size_t next = 0;
  for (const Interval& interval : list) {
    int64_t from = interval.start;
    for (; next < top.size() && top[next].span.start < interval.end; ++next) {
      const Interval& over = top[next].span;
      if (over.start > from) all.push_back({{from, over.start}, layer});
      from = std::max(from, over.end);
      // A span that reaches beyond this interval may cover the next interval too.
      if (over.end > interval.end) break;
      all.push_back(top[next]);
    }
    if (from < interval.end) all.push_back({{from, interval.end}, layer});
  }
  all.insert(all.end(), top.begin() + static_cast<std::ptrdiff_t>(next), top.end());
  return all;
}

}  // namespace

std::vector<LayerSpan> TopLayers(const std::vector<std::vector<Interval>>& lists) {
  std::vector<LayerSpan> top;
  for (uint32_t layer = 0; layer < lists.size(); ++layer) {
    if (!lists[layer].empty()) top = AddBelow(top, lists[layer], layer);
  }
  return top;
}

}  // namespace gpuprof::analysis
