// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which steps the critical path looks at.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/results/critical_path.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

// Makes a loop. Each step launches one kernel at its begin, waits for it, and ends with it.
results::CriticalPath PathOf(const std::vector<int64_t>& lengths_ms) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  TrackBuilder& thread = builder.Thread(5);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  int64_t at = 0;
  uint32_t number = 0;
  for (const int64_t length : lengths_ms) {
    const int64_t start = at * kMs, end = (at + length) * kMs;
    thread.User("step " + std::to_string(number), start, end);
    ++number;
    thread.Call("cudaLaunchKernel", start, start + kMs / 2, number)
        .Call("cudaDeviceSynchronize", start + kMs, end - kMs / 2, 100 + number);
    stream.Kernel(kernel, start + kMs, end - kMs, number);
    at += length;
  }
  const auto result = RunPass<results::CriticalPaths>("critical_path", MakeTrace({&builder}));
  EXPECT_EQ(result.paths_size(), 1);
  return result.paths_size() == 0 ? results::CriticalPath() : result.paths(0);
}

// The first of the usual steps has the slow one behind it.
TEST(StepGraph, ARareSlowStepIsNotPlayed) {
  const results::CriticalPath path = PathOf({10, 10, 12, 14, 11, 90, 13, 12, 12, 10});
  EXPECT_EQ(path.typical_step_ns(), 12 * kMs);
  EXPECT_EQ(path.first_step(), 7u);
  EXPECT_EQ(path.last_step(), 8u);
  EXPECT_EQ(path.duration_ns(), 24 * kMs);
}

TEST(StepGraph, TheMedianStepBeforeASlowOneIsNotPlayed) {
  const results::CriticalPath path = PathOf({10, 10, 17, 12, 90, 13, 14, 15, 11, 10, 10});
  EXPECT_EQ(path.typical_step_ns(), 12 * kMs);
  EXPECT_EQ(path.first_step(), 5u)
      << "13 and 14 ms are nearest: the step of 12 ms has 90 behind it";
  EXPECT_EQ(path.duration_ns(), 27 * kMs);
  for (const results::WhatIf& what_if : path.what_ifs()) EXPECT_LE(what_if.saved_ns(), 27 * kMs);
}

// The work behind the last step is not known: it is taken only if there is no other.
TEST(StepGraph, TheLastStepIsTakenOnlyIfThereIsNoOther) {
  const results::CriticalPath two = PathOf({10, 12});
  EXPECT_EQ(two.first_step(), 0u);
  EXPECT_EQ(two.last_step(), 1u);
  const results::CriticalPath three = PathOf({20, 10, 10});
  EXPECT_EQ(three.first_step(), 0u);
}

// The second device begins later, and nothing tells what it waited for.
TEST(StepGraph, APathThatBeginsLaterAddsUpToTheWindow) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Stream(0, 1, 7).Kernel(kernel, 0, 10 * kMs);
  builder.Stream(1, 2, 7).Kernel(kernel, 4 * kMs, 14 * kMs).Kernel(kernel, 16 * kMs, 20 * kMs);
  const auto result = RunPass<results::CriticalPaths>("critical_path", MakeTrace({&builder}));
  ASSERT_EQ(result.paths_size(), 1);
  const results::CriticalPath& path = result.paths(0);
  EXPECT_EQ(path.duration_ns(), 20 * kMs);
  int64_t categories_ns = 0, shares_ns = 0, before_ns = 0;
  for (const results::CategoryTime& part : path.categories()) categories_ns += part.total_ns();
  for (const results::PathShare& share : path.shares()) {
    shares_ns += share.total_ns();
    if (share.kind() == results::PATH_SHARE_NONE) before_ns += share.total_ns();
  }
  EXPECT_EQ(categories_ns, path.duration_ns());
  EXPECT_EQ(shares_ns, path.duration_ns());
  EXPECT_EQ(before_ns, 4 * kMs);
  EXPECT_THAT(Render(result, Format::kText, {}, 0),
              testing::HasSubstr("nothing that was recorded"));
}

TEST(StepGraph, WithoutStepsNoneIsNamed) {
  ProcessBuilder builder(5);
  builder.Stream(0, 1, 7).Kernel(builder.Signature("k", 1, 32), 0, kMs);
  const auto result = RunPass<results::CriticalPaths>("critical_path", MakeTrace({&builder}));
  ASSERT_EQ(result.paths_size(), 1);
  EXPECT_FALSE(result.paths(0).has_first_step());
  EXPECT_FALSE(result.paths(0).has_typical_step_ns());
}

}  // namespace
}  // namespace gpuprof::analysis::test
