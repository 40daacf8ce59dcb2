// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Steps that the program marks itself: ranges of NVTX and ITT, record_function, ProfilerStep#N.

#include "analysis/steps/step_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/steps/step_detector.h"
#include "proto/step_names.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::ProcessBuilder;
using test::TrackBuilder;
using testing::ElementsAre;

std::vector<DetectedSteps> DetectAll(const ProcessBuilder& builder,
                                     const StepCapture& capture = {}) {
  const Process process = builder.Build();
  ProcessOps ops(process);
  return DetectSteps(ops, nullptr, capture);
}

DetectedSteps Detect(const ProcessBuilder& builder, const StepCapture& capture = {}) {
  return DetectAll(builder, capture).front();
}

std::vector<uint64_t> Numbers(const DetectedSteps& steps) {
  std::vector<uint64_t> numbers;
  for (const DetectedStep& step : steps.steps) numbers.push_back(step.number.value());
  return numbers;
}

std::string Read(const std::string& name, const char* wanted = "", const std::string& domain = "") {
  const proto::StepName step = proto::ReadStepName(
      {name.data(), static_cast<uint32_t>(name.size())},
      {domain.empty() ? nullptr : domain.data(), static_cast<uint32_t>(domain.size())}, wanted);
  if (!step.is_step) return "not a step";
  return name.substr(0, step.word_bytes) +
         (step.has_number ? " " + std::to_string(step.number) : "");
}

TEST(StepNames, WordsWithAndWithoutNumbers) {
  EXPECT_EQ(Read("step"), "step");
  EXPECT_EQ(Read("Iteration"), "Iteration");
  EXPECT_EQ(Read("step 12"), "step 12");
  EXPECT_EQ(Read("iter_7"), "iter 7");
  EXPECT_EQ(Read("train step: 3"), "train step 3");
  EXPECT_EQ(Read("ProfilerStep#551"), "ProfilerStep 551");
  EXPECT_EQ(Read("step9"), "step 9");
  EXPECT_EQ(Read("steps"), "not a step");
  EXPECT_EQ(Read("my step 1"), "not a step");
  EXPECT_EQ(Read("12"), "not a step");
  EXPECT_EQ(Read(""), "not a step");
  EXPECT_EQ(Read("step 1234567890123456789"), "not a step") << "the number has too many digits";
}

TEST(StepNames, WhatVllmExecutesAtATimeIsAStep) {
  EXPECT_EQ(Read("execute_context_1(888_788544)_generation_0(0)"), "execute");
  EXPECT_EQ(Read("execute_32_context_0(sq0sk0)_generation_32(sq32sk55086)"), "execute");
  EXPECT_EQ(Read("execute_generation_"), "not a step");
  EXPECT_EQ(Read("execute_first_generation_pass"), "not a step");
  EXPECT_EQ(Read("execute_model"), "not a step");
  EXPECT_EQ(Read("execute_context_1_generation"), "not a step");
  EXPECT_EQ(Read("execute_context_1(888)_generation_0(0)", "mine"), "not a step");
}

TEST(StepNames, IterationsOfOtherEnginesAreSteps) {
  EXPECT_EQ(Read("step[DECODE bs=62]"), "step");
  EXPECT_EQ(Read("Iteration(515): 0 context requests, 0 context tokens, 20 generation requests, 20 "
                 "generation tokens"),
            "Iteration 515");
  EXPECT_EQ(Read("[Executor] _forward_step 17: 2 ctx reqs, 0 gen reqs"),
            "[Executor] _forward_step 17");
  EXPECT_EQ(Read("decode[bs=3]"), "decode");
}

TEST(StepNames, TheUsersNameReplacesTheWords) {
  EXPECT_EQ(Read("forward", "forward"), "forward");
  EXPECT_EQ(Read("forward 12", "forward"), "forward 12");
  EXPECT_EQ(Read("step 12", "forward"), "not a step");
  EXPECT_EQ(Read("train 4", "train@app", "app"), "train 4");
  EXPECT_EQ(Read("train 4", "train@app", "other"), "not a step");
  EXPECT_EQ(Read("train 4", "train@app"), "not a step");
}

TEST(StepRanges, OfAProgramWithoutOperations) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  builder.Thread(2).Op("aten::mm", 0, 50 * kMs);
  for (int i = 0; i < 4; ++i) track.Range("solver", "step", i * 100 * kMs, (i * 100 + 90) * kMs);
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.method, results::STEP_METHOD_RANGES);
  EXPECT_EQ(steps.marker, "solver:step");
  EXPECT_EQ(steps.track, 0u);
  EXPECT_FALSE(steps.trains);
  EXPECT_THAT(Numbers(steps), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(steps.steps[1].span, (Interval{100 * kMs, 190 * kMs})) << "as the range itself";
}

TEST(StepRanges, WinOverOptimizerSteps) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 5; ++i) {
    const int64_t at = i * 100 * kMs;
    track.Op("aten::mm", at, at + 20 * kMs).Optimizer(at + 60 * kMs, at + 80 * kMs);
    track.Range("", "train_step " + std::to_string(i + 7), at, at + 90 * kMs);
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.method, results::STEP_METHOD_RANGES);
  EXPECT_TRUE(steps.trains);
  EXPECT_THAT(Numbers(steps), ElementsAre(7, 8, 9, 10, 11));
  StepCapture capture;
  capture.begin = StepCapture::Begin::kOptimizer;
  EXPECT_EQ(Detect(builder, capture).method, results::STEP_METHOD_OPTIMIZER)
      << "the recorder counted optimizer steps";
}

TEST(StepRanges, OneRangeDoesNotReplaceManyOptimizerSteps) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  track.Range("", "iteration", 10 * kMs, 20 * kMs);
  for (int i = 0; i < 5; ++i) {
    const int64_t at = i * 100 * kMs;
    track.Op("aten::mm", at, at + 20 * kMs).Optimizer(at + 60 * kMs, at + 80 * kMs);
  }
  EXPECT_EQ(Detect(builder).method, results::STEP_METHOD_OPTIMIZER);
  StepCapture capture;
  capture.begin = StepCapture::Begin::kRange;
  EXPECT_EQ(Detect(builder, capture).method, results::STEP_METHOD_RANGES);
}

TEST(StepRanges, TheProfilersOwnNameOfAStepIsCertain) {
  ProcessBuilder builder(1);
  TrackBuilder& thread = builder.Thread(1);
  thread.User("ProfilerStep#551", 0, 100 * kMs);
  for (int64_t i = 0; i < 5; ++i) thread.Optimizer((2 + 20 * i) * kMs, (10 + 20 * i) * kMs);
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.method, results::STEP_METHOD_RANGES);
  EXPECT_THAT(Numbers(steps), ElementsAre(551));
}

TEST(StepRanges, AnnotationsOfAFrameworkKeepTheirNumbers) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 3; ++i) {
    const int64_t at = i * 100 * kMs;
    track.User("ProfilerStep#" + std::to_string(551 + i), at, at + 100 * kMs);
    track.Op("aten::mm", at, at + 20 * kMs);
    track.Op("step", at, at + 10 * kMs);  // a function, not a range
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.method, results::STEP_METHOD_RANGES);
  EXPECT_EQ(steps.marker, "ProfilerStep");
  EXPECT_THAT(Numbers(steps), ElementsAre(551, 552, 553));
}

TEST(StepRanges, TheOutermostCounts) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 3; ++i) {
    const int64_t at = i * 100 * kMs;
    track.Range("", "step", at, at + 40 * kMs, 1);
    track.Range("", "iteration 5", at + 40 * kMs, at + 60 * kMs, 1);
    track.Range("", "step", at, at + 90 * kMs);
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_THAT(Numbers(steps), ElementsAre(1, 2, 3));
  EXPECT_EQ(steps.steps[2].span, (Interval{200 * kMs, 290 * kMs}));
}

TEST(StepRanges, EachThreadHasItsSteps) {
  ProcessBuilder builder(1);
  for (int i = 0; i < 4; ++i)
    builder.Thread(1).Range("", "step", i * 100 * kMs, (i * 100 + 90) * kMs);
  for (int i = 0; i < 3; ++i)
    builder.Thread(2).Range("", "step", (i * 120 + 30) * kMs, (i * 120 + 130) * kMs);
  const std::vector<DetectedSteps> all = DetectAll(builder);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].track, 0u);
  EXPECT_THAT(Numbers(all[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(all[1].track, 1u);
  EXPECT_THAT(Numbers(all[1]), ElementsAre(1, 2, 3));
  EXPECT_THAT(all[0].rivals, ElementsAre(1));
}

TEST(StepRanges, ThreadsThatTakeTurnsCountTogether) {
  ProcessBuilder builder(1);
  for (int i = 0; i < 6; ++i)
    builder.Thread(1 + i % 2).Range("", "step", i * 100 * kMs, (i * 100 + 90) * kMs);
  const std::vector<DetectedSteps> all = DetectAll(builder);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(Numbers(all[0]), ElementsAre(1, 3, 5));
  EXPECT_THAT(Numbers(all[1]), ElementsAre(2, 4, 6));
}

TEST(StepRanges, AStartedRangeBelongsToTheThreadThatBeganIt) {
  ProcessBuilder builder(1);
  builder.Thread(7);
  for (int i = 0; i < 3; ++i)
    builder.Thread(20 + i).Range("", "iteration", i * 100 * kMs, (i * 100 + 90) * kMs, 0,
                                 proto::RangeKind::kStartEnd, 7);
  const std::vector<DetectedSteps> all = DetectAll(builder);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].track, 0u);
  EXPECT_THAT(Numbers(all[0]), ElementsAre(1, 2, 3));
}

TEST(StepRanges, UnfinishedRangesAndRangesBeyondACaptureAreNotWhole) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 4; ++i)
    track.Range("", "step " + std::to_string(i), i * 100 * kMs, (i * 100 + 90) * kMs);
  track.Range("", "step 4", 400 * kMs, 420 * kMs, 0, proto::RangeKind::kPushPop, 0,
              proto::kFlagIncomplete);
  builder.Capture(50 * kMs, 420 * kMs);
  const DetectedSteps steps = Detect(builder);
  EXPECT_THAT(Numbers(steps), ElementsAre(1, 2, 3));
  EXPECT_EQ(steps.partial, 2u);
}

TEST(StepRanges, NumbersGoOnFromTheCapture) {
  ProcessBuilder builder(1);
  for (int i = 0; i < 3; ++i)
    builder.Thread(1).Range("", "step", i * 100 * kMs, (i * 100 + 90) * kMs);
  StepCapture capture;
  capture.first = 10;
  EXPECT_THAT(Numbers(Detect(builder, capture)), ElementsAre(1, 2, 3));
  capture.begin = StepCapture::Begin::kRange;
  EXPECT_THAT(Numbers(Detect(builder, capture)), ElementsAre(10, 11, 12));
}

TEST(StepRanges, TheNameOfTheCaptureIsTheStep) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 3; ++i) {
    track.Range("", "step", i * 100 * kMs, (i * 100 + 20) * kMs);
    track.Range("app", "train", (i * 100 + 20) * kMs, (i * 100 + 90) * kMs);
  }
  StepCapture capture;
  capture.range = "train@app";
  EXPECT_EQ(Detect(builder, capture).marker, "app:train");
  EXPECT_EQ(Detect(builder).marker, "step");
}

// The recorder writes the range that begins a capture. PyTorch reports those that follow.
TEST(StepRanges, OfACaptureThatBeganAtAFrameworksRange) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  track.Range("PyTorch", "ProfilerStep#4", 0, 100 * kMs);
  for (int i = 1; i < 3; ++i)
    track.User("ProfilerStep#" + std::to_string(4 + i), i * 100 * kMs, (i + 1) * 100 * kMs);
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.marker, "ProfilerStep");
  EXPECT_THAT(Numbers(steps), ElementsAre(4, 5, 6));
}

}  // namespace
}  // namespace gpuprof::analysis
