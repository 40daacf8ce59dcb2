// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/job/equal_ranks.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpuprof::analysis {
namespace {

constexpr int64_t kMs = 1'000'000;

RankTimes Times(int64_t forward_ms, int64_t backward_ms, int64_t wait_ms) {
  RankTimes times = {};
  times[static_cast<size_t>(RankTime::kForward)] = forward_ms * kMs;
  times[static_cast<size_t>(RankTime::kBackward)] = backward_ms * kMs;
  times[static_cast<size_t>(RankTime::kWait)] = wait_ms * kMs;
  return times;
}

std::vector<RankGroup> Groups(const std::vector<RankTimes>& means) {
  return GroupRanks(means, std::vector<RankTimes>(means.size()), true);
}

TEST(GroupRanks, OneRankDiffersFromAllOthers) {
  std::vector<RankTimes> means(255, Times(10, 20, 12));
  means.insert(means.begin() + 137, Times(10, 32, 0));
  const auto groups = Groups(means);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].ranks.size(), 255U);
  EXPECT_FALSE(groups[0].outlier_time);
  EXPECT_EQ(groups[1].ranks, std::vector<size_t>{137});
  EXPECT_EQ(groups[1].outlier_time, RankTime::kBackward);
}

TEST(GroupRanks, WaitsDoNotMakeAKindOfRank) {
  const auto groups = Groups({Times(10, 20, 0), Times(10, 20, 30), Times(10, 20, 11)});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].mean[static_cast<size_t>(RankTime::kForward)], 10 * kMs);
}

TEST(GroupRanks, OtherTimeIsOwnIfWaitsAreKnown) {
  std::vector<RankTimes> means(3, Times(10, 20, 0));
  means[1][static_cast<size_t>(RankTime::kOther)] = 30 * kMs;
  const auto groups = Groups(means);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].outlier_time, RankTime::kOther);
  EXPECT_EQ(GroupRanks(means, std::vector<RankTimes>(3), false).size(), 1U);
}

TEST(GroupRanks, StagesOfEqualSizeAreNoOutliers) {
  std::vector<RankTimes> means;
  for (int64_t rank = 0; rank < 32; ++rank) means.push_back(Times(10 + rank / 8 * 5, 20, 5));
  const auto groups = Groups(means);
  ASSERT_EQ(groups.size(), 4U);
  for (const RankGroup& group : groups) {
    EXPECT_EQ(group.ranks.size(), 8U);
    EXPECT_FALSE(group.outlier_time);
  }
}

TEST(GroupRanks, NoiseOfTheStepsWidensAGroup) {
  const std::vector<RankTimes> means = {Times(10, 20, 0), Times(10, 20, 0), Times(10, 23, 0)};
  EXPECT_EQ(Groups(means).size(), 2U);
  RankTimes error = {};
  error[static_cast<size_t>(RankTime::kBackward)] = kMs;
  EXPECT_EQ(GroupRanks(means, std::vector<RankTimes>(3, error), true).size(), 1U);
}

TEST(GroupRanks, ManyKindsAreFewGroups) {
  std::vector<RankTimes> means;
  for (int64_t rank = 0; rank < 200; ++rank) means.push_back(Times(100 + rank * 10, 20, 5));
  const auto groups = Groups(means);
  EXPECT_LE(groups.size(), kMostRankGroups);
  size_t all = 0;
  for (const RankGroup& group : groups) all += group.ranks.size();
  EXPECT_EQ(all, 200U);
  EXPECT_TRUE(Groups({}).empty());
}

TEST(RankWords, NamesRunsAndStrides) {
  EXPECT_EQ(RankWords(std::vector<uint32_t>{137}), "rank 137");
  EXPECT_EQ(RankWords(std::vector<uint32_t>{0, 1}), "ranks 0, 1");
  EXPECT_EQ(RankWords(std::vector<uint32_t>{0, 1, 2, 4, 5, 6}), "ranks 0 to 2, 4 to 6");
  EXPECT_EQ(RankWords(std::vector<uint32_t>{3, 11, 19}), "ranks 3 to 19, every 8th");
  EXPECT_EQ(RankWords(std::vector<uint32_t>{0, 2, 4}), "ranks 0 to 4, every 2nd");
  EXPECT_EQ(RankWords(std::vector<uint32_t>{0, 2, 5, 7, 9, 12, 20, 30}),
            "ranks 0, 2, 5, 7, 9, 12 and 2 more");
  EXPECT_EQ(RankWords({}), "");
}

}  // namespace
}  // namespace gpuprof::analysis
