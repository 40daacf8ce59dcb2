// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/steps/program_runs.h"

#include <gtest/gtest.h>

#include "analysis/steps/step_detector.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::ProcessBuilder;

constexpr proto::OpScope kMark = proto::OpScope::kTraceMe;

TEST(ProgramRuns, NamesOfCalls) {
  EXPECT_EQ(CalledProgram("PjitFunction(train_step)"), "train_step");
  EXPECT_EQ(CalledProgram("PjitFunction(<lambda>)"), "<lambda>");
  EXPECT_EQ(CalledProgram("PjitFunction"), "");
  EXPECT_EQ(CalledProgram("ParseArguments"), "");
}

// A slow first call of a small function, then five steps of two calls each. The time behind a call
// is the call's.
void AddLoop(ProcessBuilder* builder) {
  auto& thread = builder->Thread(1);
  thread.Op("PjitFunction(init)", 0, 500 * kMs, kMark);
  for (int step = 0; step < 5; ++step) {
    const int64_t at = (600 + 20 * step) * kMs;
    thread.Op("PjitFunction(small)", at, at + kMs, kMark);
    thread.Op("PjitFunction(train_step)", at + 2 * kMs, at + 3 * kMs, kMark);
    // JAX makes two marks a call.
    thread.Op("PjitFunction(train_step)", at + 2 * kMs + 10, at + 3 * kMs - 10, kMark);
    thread.Op("CommonPjRtBuffer::Await", at + 4 * kMs, at + 18 * kMs, kMark);
  }
}

TEST(ProgramRuns, TheMainFunctionIsThatOfMostTime) {
  ProcessBuilder builder(1);
  AddLoop(&builder);
  const Process process = builder.Build();
  ProcessOps ops(process);
  const ProgramRuns main = MainProgram(ops);
  EXPECT_EQ(main.name, "train_step");
  ASSERT_EQ(main.runs.size(), 5u);
  EXPECT_EQ(main.runs[1].span, (Interval{622 * kMs, 623 * kMs}));
  EXPECT_EQ(ResultWaits(process, main.track).size(), 5u);
}

TEST(ProgramRuns, CallsAreStepsFromOneToTheNext) {
  ProcessBuilder builder(1);
  AddLoop(&builder);
  const Process process = builder.Build();
  ProcessOps ops(process);
  const std::vector<DetectedSteps> all = DetectSteps(ops, nullptr);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].method, results::STEP_METHOD_MODULES);
  EXPECT_EQ(all[0].marker, "train_step");
  ASSERT_EQ(all[0].steps.size(), 4u);
  EXPECT_EQ(all[0].steps[0].span, (Interval{602 * kMs, 622 * kMs}));
}

TEST(ProgramRuns, TwoCallsAreNoLoop) {
  ProcessBuilder builder(1);
  builder.Thread(1)
      .Op("PjitFunction(f)", 0, kMs, kMark)
      .Op("PjitFunction(f)", 2 * kMs, 3 * kMs, kMark);
  const Process process = builder.Build();
  ProcessOps ops(process);
  EXPECT_TRUE(MainProgram(ops).runs.empty());
}

}  // namespace
}  // namespace gpuprof::analysis
