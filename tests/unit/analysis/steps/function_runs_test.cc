// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Steps of TensorFlow by its marks: Keras, loops of one's own, and steps that a program numbers.

#include "analysis/steps/function_runs.h"

#include <gtest/gtest.h>

#include "analysis/steps/step_detector.h"
#include "analysis/steps/step_summary.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::ProcessBuilder;
using test::TrackBuilder;

constexpr char kTrain[] = "__inference_multi_step_on_iterator_11";
constexpr char kTest[] = "__inference_multi_step_on_iterator_22";

// A program of TensorFlow: the thread of the loop, and one that runs operations.
class Program {
 public:
  TrackBuilder& Mark(TrackBuilder& track, const std::string& name, int64_t start, int64_t end) {
    return track.Op(name, start, end, proto::OpScope::kTraceMe);
  }
  // What Python had executed.
  void Execute(const std::string& name, bool is_function, int64_t start, int64_t end) {
    Mark(loop_, "EagerExecute", start, end);
    loop_.OpValue(builder_.Id("eager_op"), 0, end, builder_.Id(name));
    loop_.OpValue(builder_.Id("is_func"), is_function ? 1 : 0, end);
  }
  // A function on another thread waits for its next element.
  void Element(int64_t start, int64_t end) {
    ++number_;
    Async("ExecutorState::ProcessAsync::Start", "_p", start);
    Async("ExecutorState::ProcessAsync::Done", "_c", end);
  }
  void Numbered(const std::string& name, int64_t number, int64_t start, int64_t end) {
    Mark(loop_, name, start, end);
    loop_.OpValue(builder_.Id("step_num"), number, end);
    loop_.OpValue(builder_.Id("_r"), 1, end);
  }
  void Compute(const std::string& name, int64_t start, int64_t end) {
    Mark(pool_, name, start, end);
  }
  std::vector<StepAnalysis> Analyse() {
    process_ = builder_.Build();
    ProcessOps ops(process_);
    return AnalyseSteps(ops, nullptr);
  }
  DetectedSteps Detect() { return Analyse().front().detected; }

 private:
  void Async(const std::string& name, const std::string& key, int64_t time) {
    constexpr int64_t kLength = 20'000;
    Mark(pool_, name, time, time + kLength);
    pool_.OpValue(builder_.Id("kernel_type"), 0, time + kLength, builder_.Id("IteratorGetNext"));
    pool_.OpValue(builder_.Id(key), number_, time + kLength);
  }

  ProcessBuilder builder_{1};
  TrackBuilder& loop_ = builder_.Thread(1);
  TrackBuilder& pool_ = builder_.Thread(2);
  Process process_;
  int64_t number_ = 0;
};

int64_t Mean(const StepAnalysis& steps, Category category) {
  return steps.summary.categories[static_cast<size_t>(category)].mean_ns;
}

// Keras: 15 ms of input and 3 of work in one run, the callbacks behind it; the last finds the end.
void Epoch(Program* program, int64_t begin, int steps) {
  int64_t at = begin;
  for (int i = 0; i < steps; ++i, at += 20 * kMs) {
    program->Element(at + kMs / 10, at + 15 * kMs);
    program->Execute(kTrain, true, at, at + 18 * kMs);
    program->Execute("OptionalHasValue", false, at + 18 * kMs, at + 18 * kMs + kMs / 10);
  }
  program->Element(at + kMs / 10, at + kMs);
  program->Execute(kTrain, true, at, at + kMs + kMs / 10);
}

TEST(FunctionRuns, WordsOfFunctions) {
  EXPECT_EQ(FunctionWord("__inference_train_step_96"), "train_step");
  EXPECT_EQ(FunctionWord("__forward_call_7"), "call");
  EXPECT_EQ(FunctionWord("train_step"), "train_step");
  EXPECT_EQ(FunctionWord("layer_2d"), "layer_2d");
  EXPECT_EQ(FunctionWord("12"), "12");
  EXPECT_EQ(FunctionWord(""), "");
}

TEST(FunctionRuns, KerasStepsAreRunsWithoutTheLastOfAnEpoch) {
  Program program;
  Epoch(&program, 0, 6);
  Epoch(&program, 200 * kMs, 6);
  const std::vector<StepAnalysis> all = program.Analyse();
  const DetectedSteps& found = all.front().detected;
  EXPECT_EQ(found.method, results::STEP_METHOD_MODULES);
  EXPECT_EQ(found.marker, "multi_step_on_iterator");
  ASSERT_EQ(found.steps.size(), 12u);
  EXPECT_EQ(found.other_batches, 2u);
  EXPECT_EQ(found.steps[0].span, (Interval{0, 20 * kMs}));
  // The last of an epoch ends where the run begins that finds no more.
  EXPECT_EQ(found.steps[5].span, (Interval{100 * kMs, 120 * kMs}));
  EXPECT_EQ(found.steps[6].span, (Interval{200 * kMs, 220 * kMs}));
  EXPECT_EQ(found.steps[3].batches, 1u);
  EXPECT_EQ(Mean(all.front(), Category::kInput), 15 * kMs - kMs / 10);
  EXPECT_EQ(found.confidence.level, results::LEVEL_HIGH);
}

TEST(FunctionRuns, KerasEvaluationIsNoStep) {
  Program program;
  int64_t at = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int i = 0; i < 5; ++i, at += 20 * kMs) {
      program.Compute("StatefulPartitionedCall/gradient_tape/MatMul:MatMul", at + kMs,
                      at + 9 * kMs);
      program.Execute(kTrain, true, at, at + 18 * kMs);
    }
    for (int i = 0; i < 3; ++i, at += 10 * kMs) {
      program.Compute("ExecutorState::Process", at + kMs, at + 8 * kMs);
      program.Execute(kTest, true, at, at + 9 * kMs);
    }
  }
  const DetectedSteps found = program.Detect();
  ASSERT_EQ(found.steps.size(), 10u);
  EXPECT_EQ(found.steps[4].span, (Interval{80 * kMs, 100 * kMs}));
  EXPECT_EQ(found.steps[5].span, (Interval{130 * kMs, 150 * kMs}));
  EXPECT_TRUE(found.trains);
}

TEST(FunctionRuns, AShortRunThatGivesAResultIsAStep) {
  Program program;
  int64_t at = 0;
  for (int i = 0; i < 8; ++i, at += 20 * kMs) {
    const int64_t work = i == 3 ? kMs / 10 : 10 * kMs;
    program.Element(at + kMs / 10, at + 2 * kMs);
    program.Execute(kTrain, true, at, at + 2 * kMs + work);
    program.Execute("OptionalHasValue", false, at + 15 * kMs, at + 16 * kMs);
  }
  program.Element(at + kMs / 10, at + 2 * kMs);
  program.Execute(kTrain, true, at, at + 12 * kMs);
  const DetectedSteps found = program.Detect();
  EXPECT_EQ(found.steps.size(), 8u);
  EXPECT_EQ(found.other_batches, 1u);
}

TEST(FunctionRuns, AFunctionWithoutMarksOfOperationsMayTrain) {
  Program program;
  int64_t at = 0;
  for (int i = 0; i < 5; ++i, at += 20 * kMs)
    program.Execute(kTest, true, at, at + 18 * kMs);  // before operations have marks
  for (int i = 0; i < 5; ++i, at += 20 * kMs) {
    program.Compute("StatefulPartitionedCall/gradient_tape/MatMul:MatMul", at + kMs, at + 9 * kMs);
    program.Execute(kTrain, true, at, at + 18 * kMs);
  }
  EXPECT_EQ(program.Detect().steps.size(), 10u);
}

TEST(FunctionRuns, StepsOfALoopBeginWithTheirBatch) {
  Program program;
  int64_t at = 0;
  for (int i = 0; i < 8; ++i, at += 12 * kMs) {
    program.Execute("IteratorGetNext", false, at, at + 2 * kMs);
    program.Execute("__inference_train_step_96", true, at + 2 * kMs, at + 11 * kMs);
  }
  program.Execute("IteratorGetNext", false, at, at + kMs / 2);
  const std::vector<StepAnalysis> all = program.Analyse();
  const DetectedSteps& found = all.front().detected;
  ASSERT_EQ(found.steps.size(), 8u);
  EXPECT_EQ(found.steps[7].span, (Interval{84 * kMs, 96 * kMs}));
  EXPECT_EQ(found.steps[2].batches, 1u);
  EXPECT_EQ(found.other_batches, 1u);
  EXPECT_EQ(Mean(all.front(), Category::kInput), 2 * kMs);
}

TEST(FunctionRuns, WithoutFunctionsTheBatchesAreTheSteps) {
  Program program;
  for (int i = 0; i < 6; ++i) {
    program.Execute("IteratorGetNext", false, i * 20 * kMs, (i * 20 + 2) * kMs);
    program.Execute("MatMul", false, (i * 20 + 3) * kMs, (i * 20 + 18) * kMs);
  }
  const DetectedSteps found = program.Detect();
  EXPECT_EQ(found.method, results::STEP_METHOD_LOADER);
  ASSERT_EQ(found.steps.size(), 6u);
  EXPECT_EQ(found.steps[1].span, (Interval{20 * kMs, 40 * kMs}));
}

TEST(FunctionRuns, NumberedMarksAreTheSteps) {
  Program program;
  for (int i = 0; i < 6; ++i) {
    program.Numbered("train", 40 + i, i * 20 * kMs, (i * 20 + 19) * kMs);
    program.Execute("__inference_f_1", true, (i * 20 + 1) * kMs, (i * 20 + 18) * kMs);
  }
  const DetectedSteps found = program.Detect();
  EXPECT_EQ(found.method, results::STEP_METHOD_RANGES);
  EXPECT_EQ(found.marker, "train");
  ASSERT_EQ(found.steps.size(), 6u);
  EXPECT_EQ(found.steps[2].number, 42u);
  EXPECT_EQ(found.steps[2].span, (Interval{40 * kMs, 59 * kMs}));
}

TEST(FunctionRuns, MarksOfSomeStepsAreNotTheSteps) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    if (i >= 5 && i < 9) program.Numbered("Profiled batch", i, i * 20 * kMs, (i * 20 + 19) * kMs);
    program.Execute("__inference_f_1", true, (i * 20 + 1) * kMs, (i * 20 + 18) * kMs);
  }
  const DetectedSteps found = program.Detect();
  EXPECT_EQ(found.method, results::STEP_METHOD_MODULES);
  EXPECT_EQ(found.steps.size(), 20u);
}

TEST(FunctionRuns, ValuesBelongToTheOperationThatEndsThen) {
  Program program;
  program.Execute("MatMul", false, 0, kMs);
  program.Execute("__inference_f_1", true, 2 * kMs, 3 * kMs);
  const DetectedSteps found = program.Detect();
  ASSERT_EQ(found.steps.size(), 1u);
  EXPECT_EQ(found.steps[0].span, (Interval{2 * kMs, 3 * kMs}));
}

}  // namespace
}  // namespace gpuprof::analysis
