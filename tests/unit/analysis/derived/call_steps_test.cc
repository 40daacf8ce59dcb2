// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/call_steps.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

const std::vector<Interval> kSteps = {{100, 200}, {200, 300}, {400, 500}};

TEST(StepFinder, PlacesRiseWithTime) {
  StepFinder finder(kSteps);
  const std::vector<std::pair<int64_t, uint32_t>> places = {{0, 0},   {99, 0},  {100, 1}, {199, 1},
                                                            {200, 3}, {299, 3}, {300, 4}, {399, 4},
                                                            {400, 5}, {499, 5}, {500, 6}};
  for (const auto& [time, place] : places) EXPECT_EQ(finder.PlaceAt(time), place) << time;
  for (size_t i = places.size(); i-- > 0;)
    EXPECT_EQ(finder.PlaceAt(places[i].first), places[i].second) << "backwards";
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto& [time, place] = places[random() % places.size()];
    EXPECT_EQ(finder.PlaceAt(time), place) << "in any order";
  }
  EXPECT_EQ(finder.StepAt(450), 2u);
  EXPECT_EQ(finder.StepAt(350), kNoStep);
  EXPECT_EQ(StepFinder({}).StepAt(5), kNoStep);
}

void Check(const std::vector<uint32_t>& ids) {
  ProcessBuilder builder(5);
  TrackBuilder& thread = builder.Thread(5);
  thread.Call("cudaLaunchKernel", 110, 120, ids[0]);
  thread.Call("cudaLaunchKernel", 310, 320, ids[1]);
  thread.Call("cudaLaunchKernel", 410, 420, ids[2]);
  // The first of two calls with an id counts, whichever row comes first.
  thread.Call("cuLaunchKernel", 420, 425, ids[3]).Call("cudaLaunchKernel", 290, 430, ids[3]);
  const Trace trace = MakeTrace({&builder});
  const CallIndex calls(trace.processes[0]);
  const CallSteps steps(trace.processes[0], calls, kSteps);
  EXPECT_EQ(steps.Find(ids[0]), 0u);
  EXPECT_EQ(steps.Find(ids[1]), kNoStep);
  EXPECT_EQ(steps.Find(ids[2]), 2u);
  EXPECT_EQ(steps.Find(ids[3]), 1u);
  for (const uint32_t unknown : {0u, ids[0] + 1, ids[3] - 1, ids[3] + 1, 0xffffffffu})
    EXPECT_EQ(steps.Find(unknown), std::nullopt) << unknown;
}

TEST(CallSteps, FindsTheStepInWhichACallBegan) { Check({10, 20, 30, 40}); }
TEST(CallSteps, IdsMayBeFarApart) { Check({10, 2'000'000'000, 3'000'000'000, 4'000'000'000}); }

}  // namespace
}  // namespace gpuprof::analysis::test
