// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Steps a second of loops whose truth is known by construction.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "proto/results/overview.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

// A loop on a GPU that needs 20 ms a step. A step launches its work in a millisecond.
struct Loop {
  std::vector<int64_t> marks_ms;       // lengths of the host's steps
  std::vector<int64_t> waits_ms = {};  // before the launch of each step; empty: 0
  int64_t pause_ms = 0;                // between two steps
  int64_t longest_pause_ms = 0;        // instead, behind the third step
  bool has_gpu = true;
};

results::Overview OverviewOf(const Loop& loop) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  TrackBuilder& thread = builder.Thread(5);
  TrackBuilder* stream = loop.has_gpu ? &builder.Stream(0, 1, 7) : nullptr;
  int64_t at = 0, free_at = 0;
  for (size_t i = 0; i < loop.marks_ms.size(); ++i) {
    const auto number = static_cast<uint32_t>(i + 1);
    const int64_t begin = at * kMs, length = loop.marks_ms[i] * kMs;
    thread.User("step " + std::to_string(number), begin, begin + length);
    if (loop.has_gpu) {
      const int64_t launch = begin + (loop.waits_ms.empty() ? 0 : loop.waits_ms[i] * kMs);
      thread.Call("cudaLaunchKernel", launch, launch + kMs, number);
      const int64_t start = std::max(launch + kMs, free_at);
      free_at = start + 20 * kMs;
      stream->Kernel(kernel, start, free_at, number);
    }
    at += loop.marks_ms[i] + loop.pause_ms;
    if (i == 2) at += loop.longest_pause_ms;
  }
  return RunPass<results::Overview>("overview", MakeTrace({&builder}));
}

// The first three steps are marked early: they fill the queue.
TEST(StepRate, AHostThatRunsAheadMarksStepsTooEarly) {
  const auto overview = OverviewOf({{2, 2, 2, 20, 20, 20, 20, 20}});
  EXPECT_EQ(overview.steps().total_ns(), 106 * kMs) << "75 marks a second";
  EXPECT_NEAR(overview.steps_per_s(), 50, 1);
}

// The host waits for the GPU at each end, or for data at each begin but the first.
TEST(StepRate, AHostThatKeepsPaceIsRight) {
  EXPECT_NEAR(OverviewOf({{25, 25, 25, 25, 25}}).steps_per_s(), 40, 0.01);
  const Loop with_data = {{30, 50, 50, 50}, {5, 25, 25, 25}};
  EXPECT_NEAR(OverviewOf(with_data).steps_per_s(), 4 / 0.18, 0.01);
}

// It is a part of the period. Behind the last step there is none.
TEST(StepRate, TheTimeBetweenStepsCounts) {
  const Loop loop = {.marks_ms = {25, 25, 25, 25, 25}, .pause_ms = 100};
  EXPECT_NEAR(OverviewOf(loop).steps_per_s(), 5 / 0.525, 0.01);
}

// A pause that is far longer than most is no part of a step: an evaluation, a checkpoint.
TEST(StepRate, AnEvaluationDoesNotCount) {
  const Loop loop = {.marks_ms = {25, 25, 25, 25, 25, 25}, .longest_pause_ms = 1000};
  EXPECT_NEAR(OverviewOf(loop).steps_per_s(), 40, 0.5);
}

TEST(StepRate, WithoutAGpuTheMarksCount) {
  const Loop loop = {.marks_ms = {10, 10, 10, 10, 10}, .has_gpu = false};
  EXPECT_NEAR(OverviewOf(loop).steps_per_s(), 100, 0.01);
}

TEST(StepRate, WithoutStepsThereIsNone) {
  ProcessBuilder builder(5);
  builder.Stream(0, 1, 7).Kernel(builder.Signature("k", 1, 32), 0, kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  EXPECT_FALSE(overview.has_steps_per_s());
}

}  // namespace
}  // namespace gpuprof::analysis::test
