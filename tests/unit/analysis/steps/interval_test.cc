// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Intervals and category timelines: unions, gaps, splits.

#include "analysis/steps/interval.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace gpuprof::analysis {
namespace {

using Segment = CategoryTimeline::Segment;

TEST(UnionOf, MergesTouchingAndOverlappingAndDropsEmpty) {
  const std::vector<Interval> merged =
      UnionOf({{10, 20}, {0, 5}, {5, 7}, {15, 30}, {40, 40}, {50, 45}});
  EXPECT_EQ(merged, (std::vector<Interval>{{0, 7}, {10, 30}}));
}

TEST(UnionOfAll, IsTheUnionOfWhatIsInTheLists) {
  EXPECT_TRUE(UnionOfAll({}).empty());
  EXPECT_EQ(UnionOfAll({{{3, 4}}}), (std::vector<Interval>{{3, 4}}));
  EXPECT_EQ(UnionOfAll({{{0, 10}, {20, 30}}, {}, {{10, 12}, {25, 40}}}),
            (std::vector<Interval>{{0, 12}, {20, 40}}));
  std::mt19937 random(11);
  for (size_t count = 1; count < 9; ++count) {
    std::vector<std::vector<Interval>> lists;
    std::vector<Interval> all;
    for (size_t i = 0; i < count; ++i) {
      std::vector<Interval> list;
      for (int k = 0; k < 20; ++k) {
        const auto start = static_cast<int64_t>(random() % 1000);
        list.push_back({start, start + static_cast<int64_t>(random() % 20)});
      }
      lists.push_back(UnionOf(list));
      all.insert(all.end(), list.begin(), list.end());
    }
    EXPECT_EQ(UnionOfAll(lists), UnionOf(all)) << count;
  }
}

TEST(CoveredLength, CountsOnlyWithinTheWindow) {
  const std::vector<Interval> spans = {{0, 10}, {20, 30}, {40, 50}};
  EXPECT_EQ(CoveredLength(spans, {5, 45}), 5 + 10 + 5);
  EXPECT_EQ(CoveredLength(spans, {10, 20}), 0);
  EXPECT_EQ(CoveredLength(spans, {60, 70}), 0);
}

TEST(CategoryTimeline, FillsOnlyGaps) {
  CategoryTimeline timeline({{10, 20, Category::kForward}, {30, 40, Category::kInput}});
  timeline.FillGaps(std::vector<Interval>{{0, 12}, {18, 35}, {50, 60}}, Category::kLockWait);
  EXPECT_EQ(timeline.segments(), (std::vector<Segment>{{0, 10, Category::kLockWait},
                                                       {10, 20, Category::kForward},
                                                       {20, 30, Category::kLockWait},
                                                       {30, 40, Category::kInput},
                                                       {50, 60, Category::kLockWait}}));
}

TEST(CategoryTimeline, ASegmentMayTouchSeveralIntervals) {
  CategoryTimeline timeline({{10, 100, Category::kForward}});
  timeline.FillGaps(std::vector<Interval>{{5, 20}, {30, 40}, {90, 110}}, Category::kBackward);
  EXPECT_EQ(timeline.segments(), (std::vector<Segment>{{5, 10, Category::kBackward},
                                                       {10, 100, Category::kForward},
                                                       {100, 110, Category::kBackward}}));
}

TEST(CategoryTimeline, SplitGivesTheRestToOther) {
  const CategoryTimeline timeline({{10, 20, Category::kForward}, {30, 40, Category::kInput}});
  const CategoryTimes times = timeline.Split({15, 50});
  EXPECT_EQ(times[static_cast<size_t>(Category::kForward)], 5);
  EXPECT_EQ(times[static_cast<size_t>(Category::kInput)], 10);
  EXPECT_EQ(times[static_cast<size_t>(Category::kOther)], 20);
}

// Against a line of single nanoseconds.
TEST(CategoryTimeline, FillGapsAgreesWithPaintingEachNanosecond) {
  std::mt19937 random(7);
  auto spans = [&](int count) {
    std::vector<Interval> all;
    for (int i = 0; i < count; ++i) {
      const auto start = static_cast<int64_t>(random() % 200);
      all.push_back({start, start + static_cast<int64_t>(random() % 20)});
    }
    return UnionOf(std::move(all));
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<int> line(256, -1);
    CategoryTimeline timeline;
    for (const Category category : {Category::kForward, Category::kBackward, Category::kLockWait}) {
      const std::vector<Interval> intervals = spans(8);
      timeline.FillGaps(intervals, category);
      for (const Interval& interval : intervals) {
        for (int64_t t = interval.start; t < interval.end; ++t) {
          int& at = line[static_cast<size_t>(t)];
          if (at < 0) at = static_cast<int>(category);
        }
      }
    }
    std::vector<int> painted(256, -1);
    int64_t before = 0;
    for (const Segment& segment : timeline.segments()) {
      ASSERT_GE(segment.start, before);
      before = segment.end;
      for (int64_t t = segment.start; t < segment.end; ++t) {
        painted[static_cast<size_t>(t)] = static_cast<int>(segment.category);
      }
    }
    ASSERT_EQ(painted, line);
  }
}

TEST(Interval, WhatTwoOrMoreCover) {
  EXPECT_EQ(CoveredTwice({}), std::vector<Interval>());
  EXPECT_EQ(CoveredTwice({{0, 5}, {5, 9}}), std::vector<Interval>()) << "they touch";
  EXPECT_EQ(CoveredTwice({{0, 10}, {2, 4}, {3, 6}, {8, 12}, {7, 7}}),
            (std::vector<Interval>{{2, 6}, {8, 10}}));
}

TEST(Interval, WhatBothCover) {
  const std::vector<Interval> a = {{0, 4}, {6, 10}, {12, 13}};
  const std::vector<Interval> b = {{1, 2}, {3, 7}, {9, 20}};
  const std::vector<Interval> both = {{1, 2}, {3, 4}, {6, 7}, {9, 10}, {12, 13}};
  EXPECT_EQ(Intersection(a, b), both);
  EXPECT_EQ(Intersection(b, a), both);
  EXPECT_EQ(TotalLength(both), 5);
}

}  // namespace
}  // namespace gpuprof::analysis
