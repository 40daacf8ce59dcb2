// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The marks of how launches of graphs are recorded.

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

TEST(GraphModes, EachCaptureBeginsWithNodes) {
  GraphModes modes;
  modes.Begin(10);
  EXPECT_FALSE(modes.is_whole());
  modes.TurnToWhole(20);
  EXPECT_TRUE(modes.is_whole());
  modes.Begin(30);
  EXPECT_FALSE(modes.is_whole());
  const std::vector<GraphMark> marks = Marks(&modes);
  ASSERT_EQ(marks.size(), 3u);
  EXPECT_EQ(marks[0].mode, GraphMode::kNode);
  EXPECT_EQ(marks[0].ticks, 10u);
  EXPECT_EQ(marks[1].mode, GraphMode::kWhole);
  EXPECT_EQ(marks[1].ticks, 20u);
  EXPECT_EQ(marks[2].mode, GraphMode::kNode);
  EXPECT_EQ(marks[2].ticks, 30u);
}

TEST(GraphModes, MarksThatNobodyTakesAreBounded) {
  GraphModes modes;
  for (uint64_t capture = 0; capture < 100; ++capture) modes.Begin(capture);
  const std::vector<GraphMark> marks = Marks(&modes);
  EXPECT_EQ(marks.size(), 16u);
  EXPECT_EQ(marks[0].ticks, 0u) << "the first ones";
  modes.Begin(200);
  EXPECT_EQ(Marks(&modes).size(), 1u) << "there is room again";
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
