// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/steps/bootstrap.h"

#include <gtest/gtest.h>

#include <random>

namespace gpuprof::analysis {
namespace {

std::vector<int64_t> Normal(double mean, double deviation, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> values(mean, deviation);
  std::vector<int64_t> samples;
  for (size_t i = 0; i < count; ++i) samples.push_back(static_cast<int64_t>(values(random)));
  return samples;
}

TEST(MedianChange, EqualSamplesHaveNoChange) {
  const std::vector<int64_t> same(50, 1000);
  const ChangeInterval change = MedianChange(same, same);
  EXPECT_EQ(change.low, 0);
  EXPECT_EQ(change.high, 0);
}

TEST(MedianChange, TheIntervalHoldsTheTrueChange) {
  int held = 0;
  constexpr int kRounds = 60;
  for (uint64_t round = 0; round < kRounds; ++round) {
    const ChangeInterval change =
        MedianChange(Normal(1e6, 5e4, 40, round), Normal(1.1e6, 5e4, 40, round + 1000));
    held += change.low <= 0.1 && 0.1 <= change.high ? 1 : 0;
    EXPECT_GT(change.low, 0.0) << "ten per cent are more than this noise";
    EXPECT_LT(change.high - change.low, 0.12);
  }
  // 95 % of the intervals hold it; 50 of 60 is far below chance.
  EXPECT_GE(held, 50);
}

TEST(MedianChange, NoiseIsNoChange) {
  int outside = 0;
  for (uint64_t round = 0; round < 60; ++round) {
    const ChangeInterval change =
        MedianChange(Normal(1e6, 2e5, 30, round), Normal(1e6, 2e5, 30, round + 500));
    outside += change.low > 0 || change.high < 0 ? 1 : 0;
  }
  EXPECT_LE(outside, 8);
}

TEST(MedianChange, TheSameSamplesGiveTheSameInterval) {
  const std::vector<int64_t> before = Normal(1e6, 2e5, 5000, 1), after = Normal(1e6, 2e5, 9, 2);
  const ChangeInterval first = MedianChange(before, after), second = MedianChange(before, after);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
}

TEST(MeanChange, TheIntervalHoldsTheTrueChange) {
  int held = 0;
  for (uint64_t round = 0; round < 60; ++round) {
    const ChangeInterval change =
        MeanChange(Normal(1e6, 5e4, 40, round), Normal(1.1e6, 5e4, 40, round + 1000));
    held += change.low <= 1e5 && 1e5 <= change.high ? 1 : 0;
    EXPECT_GT(change.low, 0.0) << "ten per cent are more than this noise";
  }
  EXPECT_GE(held, 50);
}

TEST(MeanChange, NoiseIsNoChange) {
  int outside = 0;
  for (uint64_t round = 0; round < 60; ++round) {
    const ChangeInterval change =
        MeanChange(Normal(1e6, 2e5, 30, round), Normal(1e6, 2e5, 30, round + 500));
    outside += change.low > 0 || change.high < 0 ? 1 : 0;
  }
  EXPECT_LE(outside, 8);
}

TEST(MeanChange, RowsThatAreMissingInSomeStepsCount) {
  std::vector<int64_t> half;
  for (int i = 0; i < 100; ++i) half.push_back(i % 2 == 0 ? 1000 : 0);
  const ChangeInterval change = MeanChange(std::vector<int64_t>(100, 0), half);
  EXPECT_GT(change.low, 300);
  EXPECT_LT(change.high, 700);
}

TEST(ThinSamples, KeepsTheFirstAndEvenlySpacedOnes) {
  std::vector<int64_t> many;
  for (int64_t i = 0; i < 10'000; ++i) many.push_back(i);
  const std::vector<int64_t> kept = ThinSamples(many);
  ASSERT_EQ(kept.size(), 2000u);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i], static_cast<int64_t>(5 * i));
  EXPECT_EQ(ThinSamples({3, 1, 2}), (std::vector<int64_t>{3, 1, 2}));
}

}  // namespace
}  // namespace gpuprof::analysis
