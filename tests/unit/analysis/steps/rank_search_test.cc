// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values by rank, counted in rounds, against sorting.

#include "analysis/steps/rank_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

int Search(const std::vector<int64_t>& values, RankSearch* search) {
  int rounds = 0;
  for (; !search->is_found(); ++rounds) {
    RankSearch::Counts counts(RankSearch::kCounts);
    for (const int64_t value : values) search->Count(value, 1, &counts);
    search->Narrow(counts);
  }
  return rounds;
}

TEST(RankSearch, FindsTheMedianThatSortingFinds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const uint64_t spread = uint64_t{1} << random() % 61;
    std::vector<int64_t> values(1 + random() % 300);
    for (int64_t& value : values)
      value = static_cast<int64_t>(random() % spread) - static_cast<int64_t>(random() % 1000);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    RankSearch search(*least, *most, (values.size() - 1) / 2);
    Search(values, &search);
    EXPECT_EQ(search.value(), Samples(values).median()) << round;
  }
}

TEST(RankSearch, FindsEachRankOfFewValues) {
  const std::vector<int64_t> values = {-5, -5, 0, 7, 7, 7, 2'000'000};
  for (size_t rank = 0; rank < values.size(); ++rank) {
    RankSearch search(values.front(), values.back(), rank);
    Search(values, &search);
    EXPECT_EQ(search.value(), values[rank]) << rank;
  }
}

TEST(RankSearch, NeedsOneRoundForAThousandValuesAndNoneForOne) {
  RankSearch one(7, 7, 0);
  EXPECT_TRUE(one.is_found());
  EXPECT_EQ(one.value(), 7);
  RankSearch near(5000, 6023, 1);
  EXPECT_EQ(Search({5000, 5999, 6023}, &near), 1);
  EXPECT_EQ(near.value(), 5999);
}

TEST(RankSearch, ReachesOverAllNumbers) {
  const std::vector<int64_t> values = {std::numeric_limits<int64_t>::min(), -1, 1,
                                       std::numeric_limits<int64_t>::max()};
  RankSearch search(values.front(), values.back(), 2);
  EXPECT_LE(Search(values, &search), 7);
  EXPECT_EQ(search.value(), 1);
}

TEST(RankSearch, AWeightIsAsManyValues) {
  RankSearch search(1, 9, 5);
  RankSearch::Counts counts(RankSearch::kCounts);
  search.Count(1, 5, &counts);
  search.Count(9, 1, &counts);
  search.Narrow(counts);
  EXPECT_TRUE(search.is_found());
  EXPECT_EQ(search.value(), 9);
}

}  // namespace
}  // namespace gpuprof::analysis
