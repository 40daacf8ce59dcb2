// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The fast order of spans against the plain definition of it.

#include "analysis/model/span_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

std::vector<uint32_t> PlainOrder(const std::vector<SpanNs>& spans) {
  std::vector<uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
    return spans[x].start != spans[y].start ? spans[x].start < spans[y].start
                                            : spans[x].end > spans[y].end;
  });
  return order;
}

// `spread`: how far starts lie apart; few moments make many equal ones.
std::vector<SpanNs> RandomSpans(size_t count, int64_t spread, int64_t longest, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<SpanNs> spans;
  for (size_t i = 0; i < count; ++i) {
    const auto start = static_cast<int64_t>(random() % static_cast<uint64_t>(spread)) - spread / 2;
    spans.push_back(
        {start, start + static_cast<int64_t>(random() % static_cast<uint64_t>(longest))});
  }
  return spans;
}

void CheckNesting(const std::vector<SpanNs>& spans) {
  const std::vector<uint32_t> order = PlainOrder(spans);
  ASSERT_EQ(OutermostFirst(spans), order);
  const SpanNesting nesting = NestingOf(spans);
  std::vector<int64_t> open;
  std::vector<uint32_t> depths(spans.size());
  for (const uint32_t place : order) {
    while (!open.empty() && open.back() <= spans[place].start) open.pop_back();
    depths[place] = static_cast<uint32_t>(open.size());
    open.push_back(spans[place].end);
  }
  EXPECT_EQ(nesting.depths, depths);
  std::vector<uint32_t> by_end = order;
  std::stable_sort(by_end.begin(), by_end.end(), [&](uint32_t x, uint32_t y) {
    return spans[x].end != spans[y].end ? spans[x].end < spans[y].end : depths[x] > depths[y];
  });
  EXPECT_EQ(nesting.by_end, by_end);
}

TEST(SpanOrder, IsThatOfTheDefinition) {
  for (const size_t count : {0u, 1u, 2u, 100u, 5'000u, 20'000u}) {
    for (const int64_t spread : {int64_t{1}, int64_t{50}, int64_t{100'000}, int64_t{1} << 60}) {
      for (const int64_t longest : {int64_t{1}, int64_t{30}, int64_t{1} << 40})
        CheckNesting(RandomSpans(count, spread, longest, static_cast<uint32_t>(count)));
    }
  }
}

TEST(SpanOrder, SpansThatLieInEachOtherEndInOrder) {
  std::vector<SpanNs> spans;
  for (int64_t i = 0; i < 10'000; ++i) {
    const int64_t at = i * 100;
    spans.insert(spans.end(),
                 {{at + 10, at + 20}, {at + 20, at + 40}, {at + 5, at + 50}, {at, at + 50}});
  }
  CheckNesting(spans);
  std::reverse(spans.begin(), spans.end());
  CheckNesting(spans);
}

}  // namespace
}  // namespace gpuprof::analysis
