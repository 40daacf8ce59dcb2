// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Step detection on the loops that people write: plain training, accumulation, evaluation between,
// several optimizers, inference, no marks at all.

#include "analysis/steps/step_detector.h"

#include <gtest/gtest.h>

#include "analysis/steps/step_summary.h"
#include "analysis/steps/step_timeline.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::ProcessBuilder;
using test::TrackBuilder;

DetectedSteps Detect(const ProcessBuilder& builder, const char* marker = nullptr) {
  const Process process = builder.Build();
  ProcessOps ops(process);
  if (marker == nullptr) return DetectSteps(ops, nullptr).front();
  std::string reason;
  return DetectSteps(ops, RegularExpression::Of(marker, &reason).get()).front();
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
  EXPECT_EQ(steps.confidence.level, results::LEVEL_HIGH);
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

TEST(StepDetector, RangesAndMarksOfNvtxCanBeTheMarker) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 4; ++i) {
    const int64_t at = i * 100 * kMs;
    track.Range("loop", "step: read", at, at + 10 * kMs, 1);
    track.Range("loop", "step", at, at + 50 * kMs);
    track.Range("other", "step", at + 55 * kMs, at + 60 * kMs);
    track.Range("", "tick", at + 70 * kMs, at + 70 * kMs, 0, proto::RangeKind::kMark);
  }
  const DetectedSteps of_domain = Detect(builder, "^loop:step");
  EXPECT_EQ(of_domain.method, results::STEP_METHOD_MARKER);
  ASSERT_EQ(of_domain.steps.size(), 4u) << "the range within it begins no step";
  EXPECT_EQ(of_domain.steps[1].span, (Interval{100 * kMs, 200 * kMs}));
  EXPECT_EQ(of_domain.steps[3].span, (Interval{300 * kMs, 350 * kMs}));
  const DetectedSteps ticks = Detect(builder, "^tick$");
  ASSERT_EQ(ticks.steps.size(), 3u);
  EXPECT_EQ(ticks.steps[0].span, (Interval{70 * kMs, 170 * kMs}));
  EXPECT_EQ(ticks.partial, 1u) << "nothing tells where the last one ends";
}

TEST(StepDetector, TheProgramsOwnMarksWin) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  for (int i = 0; i < 5; ++i) {
    track.User("ProfilerStep#" + std::to_string(i), i * 100 * kMs, (i * 100 + 99) * kMs);
    Batch(track, i * 100 * kMs);
    track.Optimizer((i * 100 + 60) * kMs, (i * 100 + 80) * kMs);
  }
  EXPECT_EQ(Detect(builder).method, results::STEP_METHOD_RANGES);
}

TEST(StepDetector, NoMarksNoSteps) {
  ProcessBuilder builder(1);
  builder.Thread(1).Op("aten::mul", 0, kMs).Op("aten::add", 2 * kMs, 3 * kMs);
  const DetectedSteps steps = Detect(builder);
  EXPECT_FALSE(steps.found());
  EXPECT_EQ(steps.method, results::STEP_METHOD_NONE);
  EXPECT_NE(NoStepsAdvice({.op_rows = 2, .is_xspace = true}).find("StepTraceAnnotation"),
            std::string::npos);
  EXPECT_NE(NoStepsAdvice({.op_rows = 2, .framework_seen = true}).find("--step-marker"),
            std::string::npos);
  EXPECT_NE(NoStepsAdvice({.framework_seen = true, .pytorch_seen = true}).find("doctor"),
            std::string::npos);
  const std::string other = NoStepsAdvice({.framework_seen = true, .has_samples = true});
  EXPECT_EQ(other.find("PyTorch"), std::string::npos) << "it is not the framework here";
  EXPECT_NE(other.find("gpuprof stats python"), std::string::npos);
  const std::string service = NoStepsAdvice({.op_rows = 2, .has_samples = true});
  EXPECT_NE(service.find("gpuprof stats python"), std::string::npos);
  EXPECT_NE(NoStepsAdvice({}).find("neither PyTorch nor TensorFlow ran here"), std::string::npos);
  const std::string sampled = NoStepsAdvice({.has_samples = true});
  EXPECT_EQ(sampled.find("PyTorch"), std::string::npos);
  EXPECT_NE(sampled.find("gpuprof stats python"), std::string::npos);
  EXPECT_EQ(NoStepsAdvice({}).find("doctor"), std::string::npos)
      << "a program without a framework needs none";
}

// Four batches are fetched before the first is used, as transformers' Trainer does.
TEST(StepDetector, BatchesFetchedUpFrontBelongToTheirStep) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  int64_t at = 0;
  std::vector<Interval> expected;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step < 4; ++step) {
      const int64_t begin = at;
      for (int i = 0; i < 4; ++i, at += 10 * kMs) track.Loader(at, at + 9 * kMs);
      for (int i = 0; i < 4; ++i, at += 20 * kMs) {
        track.Op("aten::linear", at, at + 8 * kMs);
        track.Backward("AddmmBackward0", at + 8 * kMs, at + 20 * kMs);
      }
      track.Optimizer(at, at + 5 * kMs);
      at += 5 * kMs;
      expected.push_back({begin, at});
    }
    track.Loader(at, at + kMs / 2);  // finds the epoch at its end
    at += kMs;
    for (int i = 0; i < 3; ++i, at += 30 * kMs) Evaluate(track, at);
    track.Loader(at, at + kMs / 2);
    at += kMs;
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(Spans(steps), expected);
  EXPECT_EQ(steps.steps[0].batches, 4u);
  EXPECT_EQ(steps.other_batches, 3u * 5u);
  EXPECT_EQ(steps.confidence.level, results::LEVEL_HIGH);
}

TEST(StepDetector, EachTrainingThreadHasItsSteps) {
  ProcessBuilder builder(1);
  TrackBuilder& actor = builder.Thread(1, "actor");
  TrackBuilder& critic = builder.Thread(2, "critic");
  for (int i = 0; i < 10; ++i) {
    const int64_t at = i * 30 * kMs;
    actor.Op("aten::mm", at, at + 10 * kMs).Backward("MmBackward0", at + 10 * kMs, at + 25 * kMs);
    actor.Optimizer(at + 25 * kMs, at + 30 * kMs);
  }
  for (int i = 0; i < 6; ++i) {
    const int64_t at = i * 50 * kMs;
    critic.Op("aten::mm", at, at + 15 * kMs).Backward("MmBackward0", at + 15 * kMs, at + 40 * kMs);
    critic.Optimizer(at + 40 * kMs, at + 50 * kMs);
  }
  const Process process = builder.Build();
  ProcessOps ops(process);
  const std::vector<StepAnalysis> all = AnalyseSteps(ops, nullptr);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].summary.tid, 1);
  EXPECT_EQ(all[0].summary.count, 9u);
  EXPECT_EQ(all[1].summary.tid, 2);
  EXPECT_EQ(all[1].summary.count, 5u);
  // The other thread's backward passes are not this one's.
  EXPECT_EQ(all[0].steps[0].times[static_cast<size_t>(Category::kBackward)], 15 * kMs);
  EXPECT_EQ(all[0].steps[0].times[static_cast<size_t>(Category::kForward)], 10 * kMs);
  EXPECT_EQ(all[1].steps[0].times[static_cast<size_t>(Category::kBackward)], 25 * kMs);
}

TEST(StepDetector, BackwardAfterBackwardIsAMark) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  std::vector<int64_t> ends;
  for (int i = 0; i < 8; ++i) {
    const int64_t at = i * 40 * kMs;
    track.Op("aten::mm", at, at + 10 * kMs);
    // Several nodes are one pass.
    track.Backward("MmBackward0", at + 11 * kMs, at + 20 * kMs);
    track.Backward("AccumulateGrad", at + 22 * kMs, at + 30 * kMs);
    track.Op("aten::sub_", at + 31 * kMs, at + 32 * kMs);  // the update, by hand
    ends.push_back(at + 30 * kMs);
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.method, results::STEP_METHOD_BACKWARD);
  ASSERT_EQ(steps.steps.size(), 7u);
  for (size_t i = 0; i < 7; ++i) EXPECT_EQ(steps.steps[i].span, (Interval{ends[i], ends[i + 1]}));
}

TEST(StepDetector, AStepBetweenTwoMarksIsNotCut) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  const std::vector<int64_t> starts = {0, 100, 200, 2200, 2300, 2400};
  for (const int64_t start : starts) track.User("begin", start * kMs, (start + 6) * kMs);
  track.Op("aten::mm", 2410 * kMs, 2490 * kMs);
  const DetectedSteps steps = Detect(builder, "^begin$");
  ASSERT_EQ(steps.steps.size(), 5u);
  EXPECT_EQ(steps.steps[2].span, (Interval{200 * kMs, 2200 * kMs}));
  EXPECT_EQ(steps.partial, 1u) << "nothing tells where the last one ends";
}

TEST(StepDetector, AnEpochsBeginIsNoStepOfInference) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  int64_t at = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int i = 0; i < 6; ++i, at += 30 * kMs) Evaluate(track, at);
    track.Loader(at, at + kMs / 4);
    track.Op("aten::random_", at + kMs / 2, at + kMs);  // the next epoch's seed
    at += kMs;
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.steps.size(), 18u);
  EXPECT_EQ(steps.other_batches, 3u);
}

TEST(StepDetector, DisagreementLowersTheConfidence) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  int64_t at = 0;
  for (int i = 0; i < 8; ++i, at += 100 * kMs) {
    Batch(track, at);
    for (int k = 0; k < 3; ++k) track.Optimizer(at + (60 + 10 * k) * kMs, at + (65 + 10 * k) * kMs);
  }
  const DetectedSteps steps = Detect(builder);
  EXPECT_EQ(steps.steps.size(), 8u);
  EXPECT_EQ(steps.confidence.level, results::LEVEL_MEDIUM);
  EXPECT_NE(steps.confidence.reason.find("24 optimizer steps were seen"), std::string::npos)
      << steps.confidence.reason;
}

CategoryTimes TimesOfLoop(const ProcessBuilder& builder, Interval window) {
  const Process process = builder.Build();
  ProcessOps ops(process);
  return StepTimeline(ops, 0).Split(window);
}

// Lightning: optimizer.step(closure), with forward, zero_grad and backward in the closure.
TEST(StepTimeline, ForwardInAClosureIsNotTheOptimizer) {
  for (const bool elsewhere : {false, true}) {
    ProcessBuilder builder(1);
    TrackBuilder& track = builder.Thread(1);
    track.Optimizer(0, 100 * kMs, "Adam");
    track.User("[pl]training_step", 5 * kMs, 41 * kMs);
    track.Op("aten::linear", 10 * kMs, 40 * kMs);
    track.User("Optimizer.zero_grad#Adam.zero_grad", 42 * kMs, 44 * kMs);
    (elsewhere ? builder.Thread(2) : track).Backward("AddmmBackward0", 50 * kMs, 80 * kMs);
    track.Op("aten::_foreach_add_", 85 * kMs, 95 * kMs);
    const CategoryTimes times = TimesOfLoop(builder, {0, 100 * kMs});
    EXPECT_EQ(times[static_cast<size_t>(Category::kForward)], 30 * kMs);
    EXPECT_EQ(times[static_cast<size_t>(Category::kBackward)], 30 * kMs);
    EXPECT_EQ(times[static_cast<size_t>(Category::kOptimizer)], (2 + 20) * kMs);
    EXPECT_EQ(times[static_cast<size_t>(Category::kOther)], 18 * kMs);
  }
}

// LBFGS calls the closure several times, and works on directions between.
TEST(StepTimeline, ClosuresOfLbfgs) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  track.Optimizer(0, 100 * kMs, "LBFGS");
  for (const int64_t at : {0 * kMs, 50 * kMs}) {
    track.User("Optimizer.zero_grad#LBFGS.zero_grad", at + kMs, at + 2 * kMs);
    track.Op("aten::linear", at + 2 * kMs, at + 12 * kMs);
    track.Backward("AddmmBackward0", at + 12 * kMs, at + 32 * kMs);
    track.Op("aten::dot", at + 35 * kMs, at + 45 * kMs);
  }
  const CategoryTimes times = TimesOfLoop(builder, {0, 100 * kMs});
  EXPECT_EQ(times[static_cast<size_t>(Category::kForward)], 20 * kMs);
  EXPECT_EQ(times[static_cast<size_t>(Category::kBackward)], 40 * kMs);
  // Zeroing twice; from the first pass's end to the second zeroing; from the last pass's end on.
  EXPECT_EQ(times[static_cast<size_t>(Category::kOptimizer)], (2 + 19 + 18) * kMs);
}

TEST(StepTimeline, WorkOnGradientsIsTheOptimizers) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  track.Op("aten::linear", 0, 10 * kMs).Backward("AddmmBackward0", 10 * kMs, 20 * kMs);
  track.Op("aten::_foreach_norm", 20 * kMs, 24 * kMs).Optimizer(24 * kMs, 30 * kMs);
  track.Op("aten::item", 30 * kMs, 31 * kMs);
  const CategoryTimes times = TimesOfLoop(builder, {0, 31 * kMs});
  EXPECT_EQ(times[static_cast<size_t>(Category::kForward)], 11 * kMs);
  EXPECT_EQ(times[static_cast<size_t>(Category::kOptimizer)], 10 * kMs);
}

TEST(StepTimeline, ShortGapsBelongToTheirPhase) {
  CategoryTimeline timeline({{0, 10, Category::kInput},
                             {12, 20, Category::kForward},
                             {25, 30, Category::kForward},
                             {40, 50, Category::kBackward},
                             {kMs * 3, kMs * 4, Category::kBackward},
                             {kMs * 4 + 5, kMs * 5, Category::kOptimizer}});
  FillShortGaps(&timeline);
  const CategoryTimes times = timeline.Split({0, kMs * 5});
  EXPECT_EQ(times[static_cast<size_t>(Category::kForward)], 8 + 5 + 5);
  EXPECT_EQ(times[static_cast<size_t>(Category::kBackward)], 10 + 10 + kMs);
  EXPECT_EQ(times[static_cast<size_t>(Category::kOptimizer)], kMs);
  EXPECT_EQ(times[static_cast<size_t>(Category::kOther)], 2 + kMs * 3 - 50)
      << "what is longer is told";
}

TEST(StepTimeline, AnOptimizerWithoutAClosureIsWhole) {
  ProcessBuilder builder(1);
  builder.Thread(1).Optimizer(0, 10 * kMs).Op("aten::add_", kMs, 9 * kMs);
  EXPECT_EQ(TimesOfLoop(builder, {0, 10 * kMs})[static_cast<size_t>(Category::kOptimizer)],
            10 * kMs);
}

TEST(StepTimeline, GapsOfABackwardPassAreBackwardUnlessTheThreadWaits) {
  ProcessBuilder builder(1);
  TrackBuilder& track = builder.Thread(1);
  track.Backward("A", 0, 10 * kMs).Backward("B", 12 * kMs, 20 * kMs);
  track.Wait(proto::WaitKind::kCondition, 1, 2, 23 * kMs, 29 * kMs);
  track.Backward("C", 30 * kMs, 40 * kMs);
  track.Op("aten::mm", 45 * kMs, 50 * kMs);
  const CategoryTimes times = TimesOfLoop(builder, {0, 50 * kMs});
  EXPECT_EQ(times[static_cast<size_t>(Category::kBackward)], (28 + 2 + 4) * kMs);
  EXPECT_EQ(times[static_cast<size_t>(Category::kBlocked)], 6 * kMs);
  EXPECT_EQ(times[static_cast<size_t>(Category::kOther)], 5 * kMs);
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
  const StepAnalysis steps = AnalyseSteps(ops, nullptr).front();
  EXPECT_EQ(steps.summary.count, 11u);
  EXPECT_EQ(steps.summary.warmup_count, 1u);
  EXPECT_EQ(steps.summary.warmup_ns, 950 * kMs);
  EXPECT_EQ(steps.summary.lengths.median_ns, 60 * kMs);
  EXPECT_EQ(steps.summary.outlier_count, 1u);
  EXPECT_EQ(steps.steps[7].outlier, Category::kInput);
  EXPECT_EQ(steps.Counted().size(), 11u);
  EXPECT_DOUBLE_EQ(steps.summary.coverage_ratio, 1.0);
}

}  // namespace
}  // namespace gpuprof::analysis
