// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When launches of graphs turn from nodes to wholes, and the marks of it.

#include "tracer/cupti/graph_mode.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpuprof::tracer::cupti {
namespace {

using proto::GraphMode;

std::vector<GraphMark> Marks(GraphModes* modes) {
  std::vector<GraphMark> marks;
  for (GraphMark mark; modes->TakeMark(&mark);) marks.push_back(mark);
  return marks;
}

TEST(GraphModes, AutomaticallyAfterSoManyNodesOfEachCapture) {
  GraphModes modes;
  for (uint64_t capture = 0; capture < 2; ++capture) {
    modes.Begin(GraphMode::kAuto, 100, 10);
    EXPECT_FALSE(modes.IsDue());
    modes.CountNodes(60);
    EXPECT_FALSE(modes.IsDue());
    modes.CountNodes(60);
    EXPECT_TRUE(modes.IsDue());
    modes.Turned(true, 20);
    EXPECT_FALSE(modes.IsDue()) << "once";
    EXPECT_TRUE(modes.is_whole());
    const std::vector<GraphMark> marks = Marks(&modes);
    ASSERT_EQ(marks.size(), 2u);
    EXPECT_EQ(marks[0].mode, GraphMode::kNode);
    EXPECT_EQ(marks[0].ticks, 10u);
    EXPECT_EQ(marks[1].mode, GraphMode::kWhole);
    EXPECT_EQ(marks[1].ticks, 20u);
    EXPECT_EQ(marks[1].nodes, 120u);
  }
}

TEST(GraphModes, AtOnceNeverOrNotWhereTheLibraryRefuses) {
  GraphModes modes;
  modes.Begin(GraphMode::kWhole, 100, 1);
  EXPECT_TRUE(modes.IsDue());
  modes.Turned(false, 2);
  EXPECT_FALSE(modes.IsDue()) << "asked once";
  EXPECT_FALSE(modes.is_whole());
  EXPECT_EQ(Marks(&modes).size(), 1u) << "still nodes";
  modes.Begin(GraphMode::kNode, 100, 3);
  modes.CountNodes(1'000'000);
  EXPECT_FALSE(modes.IsDue());
}

TEST(GraphModes, DarkWhereLaunchesAreCalledAndNothingComes) {
  constexpr uint64_t kMs = 1'000'000;
  GraphModes modes;
  modes.Begin(GraphMode::kWhole, 100, 1);
  modes.CountLaunches(5, 0);
  EXPECT_FALSE(modes.IsDark(10'000 * kMs)) << "not recorded as wholes yet";
  modes.Turned(true, 2);
  EXPECT_FALSE(modes.IsDark(0));
  EXPECT_FALSE(modes.IsDark(1'999 * kMs));
  modes.CountNodes(1);  // of a launch before the change
  EXPECT_FALSE(modes.IsDark(2'100 * kMs));
  EXPECT_FALSE(modes.IsDark(9'000 * kMs)) << "no launch since";
  modes.CountLaunches(1, 0);
  EXPECT_FALSE(modes.IsDark(9'100 * kMs));
  modes.CountLaunches(0, 1);
  EXPECT_FALSE(modes.IsDark(11'200 * kMs)) << "it came";
  modes.CountLaunches(1, 0);
  EXPECT_FALSE(modes.IsDark(12'000 * kMs));
  EXPECT_FALSE(modes.IsDark(19'000 * kMs)) << "one that takes its time";
  modes.CountLaunches(40, 0);
  EXPECT_TRUE(modes.IsDark(19'100 * kMs));
  modes.TurnedBack(3);
  EXPECT_FALSE(modes.IsDark(20'000 * kMs));
  EXPECT_FALSE(modes.is_whole());
  EXPECT_FALSE(modes.IsDue()) << "not in this capture";
  EXPECT_EQ(Marks(&modes).size(), 3u);
  modes.Begin(GraphMode::kAuto, 0, 4);
  EXPECT_FALSE(modes.IsDue()) << "for good";
  modes.Begin(GraphMode::kWhole, 0, 5);
  EXPECT_TRUE(modes.IsDue()) << "asked for in each capture";
}

TEST(GraphModes, MarksThatNobodyTakesAreBounded) {
  GraphModes modes;
  for (uint64_t i = 0; i < 100; ++i) modes.Begin(GraphMode::kNode, 0, i);
  EXPECT_LE(Marks(&modes).size(), 16u);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
