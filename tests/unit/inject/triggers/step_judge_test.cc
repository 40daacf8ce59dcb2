// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/triggers/step_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gpuprof::inject {
namespace {

TEST(StepJudge, NeedsEightStepsFirst) {
  StepJudge judge;
  for (int i = 0; i < 7; ++i) EXPECT_EQ(judge.Add(i == 5 ? 100'000 : 100, 300), 0u) << i;
  EXPECT_EQ(judge.Add(100'000, 300), 0u) << "the eighth itself";
  EXPECT_EQ(judge.Add(100'000, 300), 100u);
}

TEST(StepJudge, ComparesWithTheStepsBefore) {
  StepJudge judge;
  for (int i = 0; i < 8; ++i) judge.Add(1000, 300);
  EXPECT_EQ(judge.Add(2999, 300), 0u);
  EXPECT_EQ(judge.Add(3000, 300), 1000u);
  EXPECT_EQ(judge.Add(2500, 250), 1000u);
  EXPECT_EQ(judge.Add(2490, 250), 0u);
}

TEST(StepJudge, ASlowStepCountsOnceInTheMedian) {
  StepJudge judge;
  for (int i = 0; i < 9; ++i) judge.Add(10, 200);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(judge.Add(1000, 200), 10u) << i;
  EXPECT_EQ(judge.Add(1000, 200), 10u) << "nine are short and eight are long";
  EXPECT_EQ(judge.Add(1000, 200), 0u) << "nine of each: the median lies between";
}

TEST(StepJudge, LongStepsBecomeUsual) {
  StepJudge judge;
  for (int i = 0; i < 64; ++i) judge.Add(10, 300);
  int slow = 0;
  for (int i = 0; i < 64; ++i) slow += judge.Add(1000, 300) != 0 ? 1 : 0;
  EXPECT_EQ(slow, 32);
}

TEST(StepJudge, KnowsTheMedianOfTheLatestSixtyFour) {
  std::mt19937_64 random(7);
  std::vector<uint64_t> all;
  StepJudge judge;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t ns = random() % (i % 3 == 0 ? 10 : 1'000'000);
    std::vector<uint64_t> known(all.end() - std::min<long>(64, std::ssize(all)), all.end());
    std::sort(known.begin(), known.end());
    uint64_t median = 0;
    if (known.size() >= 8) {
      const uint64_t low = known[(known.size() - 1) / 2], high = known[known.size() / 2];
      median = low + (high - low) / 2;
    }
    EXPECT_EQ(judge.Add(ns, 110), ns * 100 >= median * 110 ? median : 0) << i;
    all.push_back(ns);
  }
}

TEST(StepJudge, HasNoLongestStep) {
  StepJudge judge;
  for (int i = 0; i < 8; ++i) judge.Add(UINT64_MAX, 1'000'000);
  EXPECT_EQ(judge.Add(UINT64_MAX, 1'000'000), 0u);
  judge.Forget();
  for (int i = 0; i < 8; ++i) judge.Add(1, 1'000'000);
  EXPECT_EQ(judge.Add(9'999, 1'000'000), 0u);
  EXPECT_EQ(judge.Add(UINT64_MAX, 1'000'000), 1u);
}

}  // namespace
}  // namespace gpuprof::inject
