// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Step detection on the loops that people write: plain training, accumulation, evaluation between,
// several optimizers, inference, no marks at all.

#include "analysis/steps/step_detector.h"

#include <gtest/gtest.h>

#include "analysis/steps/step_summary.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::ProcessBuilder;
using test::TrackBuilder;

DetectedSteps Detect(const ProcessBuilder& builder, const char* marker = nullptr) {
  const Process process = builder.Build();
  ProcessOps ops(process);
  if (marker == nullptr) return DetectSteps(ops, nullptr);
  const std::regex expression(marker);
  return DetectSteps(ops, &expression);
}

std::vector<Interval> Spans(const DetectedSteps& steps) {
  std::vector<Interval> spans;
  for (const DetectedStep& step : steps.steps) spans.push_back(step.span);
  return spans;
}

// One batch: 10 ms of loading, 20 of forward, 30 of backward from `at` on. Ends 60 ms later.
void Batch(TrackBuilder& track, int64_t at) {
  track.Loader(at, at + 10 * kMs);
  track.Op("aten::conv2d", at + 10 * kMs, at + 30 * kMs);
  track.Backward("ConvolutionBackward0", at + 30 * kMs, at + 60 * kMs);
}

void Evaluate(TrackBuilder& track, int64_t at) {
  track.Loader(at, at + 10 * kMs).Op("aten::conv2d", at + 10 * kMs, at + 30 * kMs);
}

TEST(StepDetector, TrainingWithALoader) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 6; ++i) {
    Batch(track, i * 100 * kMs);
    track.Optimizer((i * 100 + 60) * kMs, (i * 100 + 80) * kMs);
    track.Op("aten::item", (i * 100 + 85) * kMs, (i * 100 + 90) * kMs);
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.method, results::STEP_METHOD_OPTIMIZER);
  ASSERT_EQ(steps.steps.size(), 6u);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(steps.steps[static_cast<size_t>(i)].span,
              (Interval{i * 100 * kMs, (i + 1) * 100 * kMs}));
  }
  // Nothing says where the last one ends but its optimizer.
  EXPECT_EQ(steps.steps[5].span, (Interval{500 * kMs, 580 * kMs}));
  EXPECT_EQ(steps.partial, 0u);
  EXPECT_EQ(steps.other_batches, 0u);
  EXPECT_EQ(steps.confidence.level(), results::LEVEL_HIGH);
}

TEST(StepDetector, EvaluationAndEmptyBatchesAreNoSteps) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  int64_t at = 0;
  std::vector<Interval> expected;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int i = 0; i < 3; ++i) {
      expected.push_back({at, at + 80 * kMs});
      Batch(track, at);
      track.Optimizer(at + 60 * kMs, at + 80 * kMs);
      at += 80 * kMs;
    }
    track.Loader(at, at + kMs);  // finds the epoch at its end
    at += kMs;
    for (int i = 0; i < 4; ++i, at += 30 * kMs) Evaluate(track, at);
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(Spans(steps), expected);
  EXPECT_EQ(steps.other_batches, 2u * 5u);
}

TEST(StepDetector, GradientAccumulation) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  int64_t at = 0;
  for (int step = 0; step < 5; ++step) {
    for (int micro = 0; micro < 4; ++micro, at += 60 * kMs) Batch(track, at);
    track.Optimizer(at, at + 10 * kMs);
    at += 10 * kMs;
  }
  const DetectedSteps steps = Detect(builder);
  ASSERT_EQ(steps.steps.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(steps.steps[i].batches, 4u);
    EXPECT_EQ(steps.steps[i].span.start, static_cast<int64_t>(i) * 250 * kMs);
    EXPECT_EQ(steps.steps[i].span.length(), 250 * kMs);
  }
}

TEST(StepDetector, BackwardOnAutogradsThreadCountsAsTraining) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  TrackBuilder& autograd = builder.Thread(2, "pt_autograd_0");
  int64_t at = 0;
  for (int step = 0; step < 4; ++step) {
    for (int micro = 0; micro < 2; ++micro, at += 60 * kMs) {
      Evaluate(track, at);
      autograd.Backward("AddmmBackward0", at + 31 * kMs, at + 59 * kMs);
    }
    track.Optimizer(at, at + 10 * kMs);
    at += 10 * kMs;
    Evaluate(track, at);
    at += 30 * kMs;
  }
  const DetectedSteps steps = Detect(builder);
  ASSERT_EQ(steps.steps.size(), 4u);
  EXPECT_EQ(steps.steps[0].batches, 2u);
  EXPECT_EQ(steps.steps[0].span, (Interval{0, 130 * kMs}));
  EXPECT_EQ(steps.other_batches, 4u);
}

TEST(StepDetector, TwoOptimizersABatchAreOneStep) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 5; ++i) {
    const int64_t at = i * 100 * kMs;
    Batch(track, at);
    track.Optimizer(at + 60 * kMs, at + 65 * kMs, "Adam");
    track.Backward("AddBackward0", at + 65 * kMs, at + 80 * kMs);
    track.Optimizer(at + 80 * kMs, at + 85 * kMs, "Adam");
  }
  const DetectedSteps steps = Detect(builder);
  ASSERT_EQ(steps.steps.size(), 5u);
  EXPECT_EQ(steps.steps[1].span, (Interval{100 * kMs, 200 * kMs}));
}

// Without a loader, two optimizers of one class can only be told apart by their recurrence.
TEST(StepDetector, OptimizersOfOneClassByRecurrence) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  int64_t at = 0;
  std::vector<int64_t> ends;
  for (int i = 0; i < 8; ++i) {
    for (int op = 0; op < 40; ++op, at += kMs) track.Op("aten::mul", at, at + kMs);
    track.Optimizer(at, at + kMs, "Adam");
    at += kMs;
    for (int op = 0; op < 15; ++op, at += kMs) track.Op("aten::mul", at, at + kMs);
    track.Optimizer(at, at + kMs, "Adam");
    at += kMs;
    ends.push_back(at);
  }
  const DetectedSteps steps = Detect(builder);
  ASSERT_EQ(steps.steps.size(), 7u);
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(steps.steps[i].span, (Interval{ends[i], ends[i + 1]}));
  EXPECT_EQ(steps.partial, 1u);
}

// Logging every fourth step must not look like a cycle of four.
TEST(StepDetector, OccasionalWorkIsNotACycle) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  int64_t at = 0;
  for (int i = 0; i < 16; ++i) {
    const int ops = i % 4 == 3 ? 60 : 30;
    for (int op = 0; op < ops; ++op, at += kMs) track.Op("aten::mul", at, at + kMs);
    track.Optimizer(at, at + kMs);
    at += kMs;
  }
  EXPECT_EQ(Detect(builder).steps.size(), 15u);
}

TEST(StepDetector, OneBatchForManyOptimizerStepsDoesNotBoundThem) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  track.Loader(0, 10 * kMs);
  for (int i = 0; i < 10; ++i) {
    track.Backward("AddBackward0", (10 + i * 10) * kMs, (15 + i * 10) * kMs);
    track.Optimizer((15 + i * 10) * kMs, (20 + i * 10) * kMs);
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.method, results::STEP_METHOD_OPTIMIZER);
  EXPECT_EQ(steps.steps.size(), 9u);
  EXPECT_EQ(steps.steps[0].span, (Interval{20 * kMs, 30 * kMs}));
}

TEST(StepDetector, StepsCutByACaptureAreNotCounted) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 6; ++i) {
    Batch(track, i * 100 * kMs);
    track.Optimizer((i * 100 + 60) * kMs, (i * 100 + 80) * kMs);
  }
  builder.Capture(0, 250 * kMs).Capture(300 * kMs, 600 * kMs);
  const DetectedSteps steps = Detect(builder);
  ASSERT_EQ(steps.steps.size(), 5u);
  EXPECT_EQ(steps.partial, 1u);
  EXPECT_EQ(steps.steps[1].capture, 1u);
  EXPECT_EQ(steps.steps[2].capture, 2u);
  EXPECT_EQ(steps.steps[2].span.start, 300 * kMs);
}

TEST(StepDetector, InferenceFallsBackToTheLoader) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 6; ++i) Evaluate(track, i * 50 * kMs);
  track.Loader(300 * kMs, 301 * kMs);  // the end of the data
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.method, results::STEP_METHOD_LOADER);
  ASSERT_EQ(steps.steps.size(), 6u);
  EXPECT_EQ(steps.steps[5].span, (Interval{250 * kMs, 300 * kMs}));
  EXPECT_EQ(steps.other_batches, 1u);
}

TEST(StepDetector, ALoopOverDataAloneHasStepsToo) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 6; ++i) track.Loader(i * 50 * kMs, (i * 50 + 40) * kMs);
  EXPECT_EQ(Detect(builder).steps.size(), 5u);
}

TEST(StepDetector, TheUsersMarkerWins) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 5; ++i) {
    track.User("my_step_" + std::to_string(i), i * 100 * kMs, (i * 100 + 90) * kMs);
    Batch(track, i * 100 * kMs);
    track.Optimizer((i * 100 + 60) * kMs, (i * 100 + 80) * kMs);
  }
  const DetectedSteps steps = Detect(builder, "^my_step_[0-9]+$");
  EXPECT_EQ(steps.method, results::STEP_METHOD_MARKER);
  ASSERT_EQ(steps.steps.size(), 5u);
  EXPECT_EQ(steps.steps[0].span, (Interval{0, 100 * kMs}));
  EXPECT_EQ(steps.steps[4].span, (Interval{400 * kMs, 490 * kMs}));
  EXPECT_FALSE(Detect(builder, "nothing").found());
}

TEST(StepDetector, TheProgramsOwnMarksWin) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 5; ++i) {
    track.User("ProfilerStep#" + std::to_string(i), i * 100 * kMs, (i * 100 + 99) * kMs);
    Batch(track, i * 100 * kMs);
    track.Optimizer((i * 100 + 60) * kMs, (i * 100 + 80) * kMs);
  }
  EXPECT_EQ(Detect(builder).method, results::STEP_METHOD_ANNOTATION);
}

TEST(StepDetector, NoMarksNoSteps) {
  ProcessBuilder builder(1);
  builder.Thread(1).Op("aten::mul", 0, kMs).Op("aten::add", 2 * kMs, 3 * kMs);
  const DetectedSteps steps = Detect(builder);
  EXPECT_FALSE(steps.found());
  EXPECT_EQ(steps.method, results::STEP_METHOD_NONE);
  EXPECT_NE(NoStepsAdvice(2, false, true, false).find("--step-marker"), std::string::npos);
  EXPECT_NE(NoStepsAdvice(0, false, true, false).find("doctor"), std::string::npos);
  EXPECT_EQ(NoStepsAdvice(0, false, false, false).find("doctor"), std::string::npos)
      << "a program without a framework needs none";
}

TEST(StepSummary, WarmupIsLeftOutAndOutliersNameTheirCategory) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  int64_t at = 0;
  for (int i = 0; i < 12; ++i) {
    const int64_t load = i == 0 ? 900 : i == 7 ? 100 : 10;
    track.Loader(at, at + load * kMs);
    at += load * kMs;
    track.Backward("AddBackward0", at, at + 30 * kMs);
    track.Optimizer(at + 30 * kMs, at + 50 * kMs);
    at += 50 * kMs;
  }
  const Process process = builder.Build();
  ProcessOps ops(process);
  const StepAnalysis steps = AnalyseSteps(ops, nullptr);
  EXPECT_EQ(steps.series.count(), 11u);
  EXPECT_EQ(steps.series.warmup_count(), 1u);
  EXPECT_EQ(steps.series.warmup_ns(), 950 * kMs);
  EXPECT_EQ(steps.series.median_ns(), 60 * kMs);
  EXPECT_EQ(steps.series.outlier_count(), 1u);
  EXPECT_TRUE(steps.steps[7].outlier());
  EXPECT_EQ(steps.steps[7].outlier_category(), "input");
  EXPECT_EQ(steps.Counted().size(), 11u);
  EXPECT_DOUBLE_EQ(steps.series.coverage_ratio(), 1.0);
}

}  // namespace
}  // namespace gpuprof::analysis
