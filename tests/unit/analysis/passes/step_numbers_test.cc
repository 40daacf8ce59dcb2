// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Steps of a capture that began at a step have the numbers of a whole recording.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/contract.h"
#include "proto/results/steps.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::MakeTrace;
using test::ProcessBuilder;
using test::RunPass;

// Twelve updates of two networks in turn, whose optimizers are of these classes. The capture began
// behind the fourth optimizer step of the class that counts.
std::vector<uint64_t> Numbers(const std::string& first, const std::string& second) {
  ProcessBuilder builder(1);
  for (int i = 0; i < 24; ++i) {
    const int64_t at = i * 20 * kMs;
    builder.Thread(1).Op(i % 2 == 0 ? "aten::mse_loss" : "aten::log_softmax", at, at + 10 * kMs);
    builder.Thread(1).Optimizer(at + 10 * kMs, at + 20 * kMs, i % 2 == 0 ? first : second);
  }
  builder.Capture(0, 24 * 20 * kMs);
  builder.process().captures.front().start_trigger = "steps";
  Trace trace = MakeTrace({&builder});
  trace.has_manifest = true;
  trace.manifest.add_setting(std::string(proto::kEnvCapture) + "=steps:5-28");
  const auto steps = RunPass<results::Steps>("steps", trace);
  std::vector<uint64_t> numbers;
  for (const results::Step& step : steps.steps()) numbers.push_back(step.number());
  return numbers;
}

TEST(StepNumbers, OfNetworksWithOneClassOfOptimizer) {
  const std::vector<uint64_t> numbers = Numbers("Adam", "Adam");
  ASSERT_EQ(numbers.size(), 12u);
  EXPECT_EQ(numbers.front(), 3u) << "four optimizer steps, two steps, went before";
  EXPECT_EQ(numbers.back(), 14u);
}

TEST(StepNumbers, OfNetworksWithOptimizersOfTwoClasses) {
  const std::vector<uint64_t> numbers = Numbers("SGD", "Adam");
  ASSERT_EQ(numbers.size(), 12u);
  EXPECT_EQ(numbers.front(), 5u) << "one of the two classes counts";
}

TEST(StepNumbers, OfOneNetwork) {
  ProcessBuilder builder(1);
  for (int i = 0; i < 6; ++i) {
    builder.Thread(1).Op("aten::mm", i * 20 * kMs, (i * 20 + 10) * kMs);
    builder.Thread(1).Optimizer((i * 20 + 10) * kMs, (i * 20 + 20) * kMs);
  }
  const auto steps = RunPass<results::Steps>("steps", MakeTrace({&builder}));
  ASSERT_EQ(steps.steps_size(), 5);
  EXPECT_EQ(steps.steps(0).number(), 1u);
}

}  // namespace
}  // namespace gpuprof::analysis
