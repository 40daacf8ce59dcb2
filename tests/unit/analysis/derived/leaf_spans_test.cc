// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/leaf_spans.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "analysis/derived/layers.h"

namespace gpuprof::analysis {
namespace {

using Rows = std::vector<std::tuple<int64_t, int64_t, uint32_t>>;

Rows LeavesOf(const std::vector<Interval>& spans) {
  Column<int64_t> ends, durations;
  for (const Interval& span : spans) {
    ends.push_back(span.end);
    durations.push_back(span.length());
  }
  Rows rows;
  for (const LeafSpan& leaf : LeafSpans(ends, durations))
    rows.emplace_back(leaf.span.start, leaf.span.end, leaf.row);
  return rows;
}

TEST(LeafSpans, TheInnermostRowHasTheTime) {
  EXPECT_EQ(LeavesOf({{0, 100}, {10, 40}, {20, 30}, {40, 50}, {100, 110}}), (Rows{{0, 10, 0},
                                                                                  {10, 20, 1},
                                                                                  {20, 30, 2},
                                                                                  {30, 40, 1},
                                                                                  {40, 50, 3},
                                                                                  {50, 100, 0},
                                                                                  {100, 110, 4}}));
}

TEST(LeafSpans, RowsThatCrossShareNoTime) {
  EXPECT_EQ(LeavesOf({{0, 10}, {5, 20}}), (Rows{{0, 5, 0}, {5, 20, 1}}));
  EXPECT_EQ(LeavesOf({{5, 5}, {0, 0}}), Rows());
}

TEST(LeafSpans, ForEachLeafCutsToTheWindow) {
  const std::vector<LeafSpan> spans = {{{0, 10}, 3}, {{10, 20}, 4}, {{30, 40}, 3}};
  std::map<uint32_t, int64_t> sums;
  ForEachLeafIn(spans, {5, 35}, [&](uint32_t row, int64_t ns) { sums[row] += ns; });
  EXPECT_EQ(sums, (std::map<uint32_t, int64_t>{{3, 10}, {4, 10}}));
}

TEST(TopLayers, EachMomentBelongsToTheFirstListThatCoversIt) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<Interval>> lists(4);
    for (std::vector<Interval>& list : lists) {
      for (int i = 0; i < 5; ++i) {
        const auto start = static_cast<int64_t>(random() % 60);
        list.push_back({start, start + static_cast<int64_t>(random() % 15)});
      }
      list = UnionOf(std::move(list));
    }
    std::map<int64_t, uint32_t> top;  // by nanosecond
    int64_t end = INT64_MIN;
    for (const LayerSpan& span : TopLayers(lists)) {
      EXPECT_LE(end, span.span.start);
      EXPECT_LT(span.span.start, span.span.end);
      end = span.span.end;
      for (int64_t t = span.span.start; t < span.span.end; ++t) top[t] = span.layer;
    }
    for (int64_t t = 0; t < 80; ++t) {
      uint32_t wanted = 4;
      for (uint32_t layer = 4; layer-- > 0;)
        if (CoveredLength(lists[layer], {t, t + 1}) != 0) wanted = layer;
      const auto found = top.find(t);
      EXPECT_EQ(found == top.end() ? 4 : found->second, wanted) << t;
    }
  }
}

}  // namespace
}  // namespace gpuprof::analysis
