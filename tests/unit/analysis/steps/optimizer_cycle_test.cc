// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How many optimizer steps make a training step if their class does not tell, and the time that
// optimizers spend in Python.

#include "analysis/steps/optimizer_cycle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/steps/step_detector.h"
#include "analysis/steps/step_timeline.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::ProcessBuilder;
using test::TrackBuilder;

// An optimizer step with 20 operations before it, the last of them with this name. Returns its end.
int64_t Update(TrackBuilder& track, int64_t at, const std::string& last, int64_t python = 0) {
  at += python;
  track.User("update " + std::to_string(at), at, at + 20 * kMs);
  for (int i = 0; i < 19; ++i) track.Op("aten::mm", at + i * kMs, at + (i + 1) * kMs);
  track.Op(last, at + 19 * kMs, at + 20 * kMs);
  track.Optimizer(at + 20 * kMs, at + 25 * kMs, "Adam");
  return at + 25 * kMs;
}

DetectedSteps Detect(const ProcessBuilder& builder) {
  const Process process = builder.Build();
  ProcessOps ops(process);
  return DetectSteps(ops, nullptr).front();
}

TEST(OptimizerCycle, NetworksThatComputeDifferentThingsTakeTurns) {
  ProcessBuilder builder(1);
  int64_t at = 0;
  for (int i = 0; i < 12; ++i) {
    at = Update(builder.Thread(1), at, "aten::mse_loss");
    at = Update(builder.Thread(1), at, "aten::log_softmax");
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.steps.size(), 11u);
  EXPECT_EQ(steps.steps[0].span.length(), 50 * kMs);
  EXPECT_EQ(steps.confidence.level, results::LEVEL_HIGH);
}

TEST(OptimizerCycle, NetworksOfOneKindLowerTheConfidence) {
  ProcessBuilder builder(1);
  int64_t at = 0;
  for (int i = 0; i < 12; ++i) {
    at = Update(builder.Thread(1), at, "aten::mse_loss", 4 * kMs);
    at = Update(builder.Thread(1), at, "aten::mse_loss");
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.confidence.level, results::LEVEL_MEDIUM);
  EXPECT_NE(steps.confidence.reason.find("of 2 optimizer steps"), std::string::npos)
      << steps.confidence.reason;
}

// In the first round optimizers make their state: it is no measure.
TEST(OptimizerCycle, TheFirstRoundMayDiffer) {
  ProcessBuilder builder(1);
  int64_t at = 0;
  for (int i = 0; i < 6; ++i) {
    for (const char* loss : {"aten::mse_loss", "aten::log_softmax"}) {
      for (int k = 0; i == 0 && k < 20; ++k, at += kMs)
        builder.Thread(1).Op("aten::zeros", at, at + kMs);
      at = Update(builder.Thread(1), at, loss);
    }
  }
  EXPECT_EQ(Detect(builder).steps.size(), 5u);
}

TEST(OptimizerCycle, OptimizersOfTwoClassesAreACycleFromTheSecondRoundOn) {
  for (const int rounds : {1, 2, 5}) {
    ProcessBuilder builder(1);
    TrackBuilder& thread = builder.Thread(1);
    int64_t at = 0;
    for (int i = 0; i < rounds; ++i, at += 40 * kMs) {
      thread.Op("aten::mm", at, at + 10 * kMs)
          .Backward("MmBackward0", at + 10 * kMs, at + 20 * kMs);
      thread.Optimizer(at + 20 * kMs, at + 22 * kMs, "Adam");
      thread.Optimizer(at + 23 * kMs, at + 25 * kMs, "SGD");
    }
    const DetectedSteps steps = Detect(builder);
    EXPECT_EQ(steps.steps.size(), rounds == 1 ? 1u : static_cast<size_t>(rounds) - 1) << rounds;
    if (rounds > 1) {
      EXPECT_EQ(steps.steps[0].span.length(), 40 * kMs);
    }
  }
}

TEST(OptimizerCycle, LoggingEverySecondStepMakesNoCycle) {
  ProcessBuilder builder(1);
  int64_t at = 0;
  for (int i = 0; i < 24; ++i) {
    at = Update(builder.Thread(1), at, "aten::mse_loss");
    if (i % 2 == 0) builder.Thread(1).Op("aten::item", at, at + kMs / 10);
    at += kMs / 10;
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.steps.size(), 23u);
  EXPECT_EQ(steps.confidence.level, results::LEVEL_HIGH);
}

TEST(OptimizerCycle, UnevenStepsHaveNoRhythm) {
  ProcessBuilder builder(1);
  int64_t at = 0;
  uint32_t random = 1;
  for (int i = 0; i < 40; ++i) {
    random = random * 1664525 + 1013904223;
    at = Update(builder.Thread(1), at, "aten::mse_loss", (random >> 24) % 10 * kMs);
  }
  EXPECT_EQ(Detect(builder).confidence.level, results::LEVEL_HIGH);
}

// A step of 100 ms: a closure up to the operation at 60 ms, then updates.
TEST(OptimizerPython, LeavesOutTheClosure) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  track.Optimizer(0, 100 * kMs);
  track.Op("aten::mm", 10 * kMs, 30 * kMs).Backward("MmBackward0", 30 * kMs, 50 * kMs);
  track.Op("aten::mul_", 60 * kMs, 70 * kMs).Op("aten::add_", 75 * kMs, 95 * kMs);
  track.Optimizer(200 * kMs, 220 * kMs).Op("aten::add_", 205 * kMs, 215 * kMs);
  const Process process = builder.Build();
  ProcessOps ops(process);
  const std::vector<Interval> expected = {
      {70 * kMs, 75 * kMs}, {95 * kMs, 100 * kMs}, {200 * kMs, 205 * kMs}, {215 * kMs, 220 * kMs}};
  EXPECT_EQ(OptimizerPython(ops, 0), expected);
}

}  // namespace
}  // namespace gpuprof::analysis
