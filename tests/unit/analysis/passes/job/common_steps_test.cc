// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/job/common_steps.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpuprof::analysis {
namespace {

// A rank with steps of 10 ns from a moment on, numbered from `first` on.
RankSteps Rank(int64_t start, size_t count, uint64_t first, bool has_numbers,
               int64_t clock_offset = 0) {
  RankSteps rank;
  rank.has_numbers = has_numbers;
  rank.clock_offset_ns = clock_offset;
  for (size_t i = 0; i < count; ++i) {
    const int64_t at = start + static_cast<int64_t>(i) * 10;
    rank.steps.push_back({first + i, {at, at + 10}, {}});
  }
  return rank;
}

TEST(FindCommonSteps, NumbersOfTheProgramDecide) {
  const JobSteps job = {.has_arrivals = true,
                        .ranks = {Rank(0, 5, 10, true), Rank(3, 5, 12, true)}};
  const auto common = FindCommonSteps(job);
  ASSERT_EQ(common.size(), 3U);
  EXPECT_EQ(common[0].number, 12U);
  EXPECT_EQ(common[0].places, (std::vector<uint32_t>{2, 0}));
}

TEST(FindCommonSteps, TimeDecidesWithoutNumbers) {
  // The second rank was recorded from the third step on, by a clock that is 1,000 behind.
  const JobSteps job = {.has_arrivals = true,
                        .ranks = {Rank(0, 5, 1, false), Rank(20 - 1000 + 2, 3, 1, false, 1000)}};
  const auto common = FindCommonSteps(job);
  ASSERT_EQ(common.size(), 3U);
  EXPECT_EQ(common[0].number, 3U);
  EXPECT_EQ(common[0].places, (std::vector<uint32_t>{2, 0}));
  EXPECT_EQ(common[2].places, (std::vector<uint32_t>{4, 2}));
}

TEST(FindCommonSteps, NumbersDecideWithoutClocks) {
  const JobSteps job = {.ranks = {Rank(0, 3, 1, false), Rank(5000, 3, 1, false)}};
  EXPECT_EQ(FindCommonSteps(job).size(), 3U);
}

TEST(FindCommonSteps, AStepThatARankLacksIsLeftOut) {
  RankSteps second = Rank(0, 4, 1, false);
  second.steps.erase(second.steps.begin() + 1);
  const JobSteps job = {.has_arrivals = true, .ranks = {Rank(0, 4, 1, false), second}};
  const auto common = FindCommonSteps(job);
  ASSERT_EQ(common.size(), 3U);
  EXPECT_EQ(common[1].places, (std::vector<uint32_t>{2, 1}));
  EXPECT_TRUE(FindCommonSteps({}).empty());
}

}  // namespace
}  // namespace gpuprof::analysis
