// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "analysis/passes/passes.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

// Of `times` hooks timed, one in 100; ticks of 1 ns.
HookCost CostOf(const std::vector<uint64_t>& times) {
  ProcessBuilder builder(1);
  Process& process = builder.process();
  process.ticks_per_second = 1'000'000'000;
  uint64_t sum = 0, squares = 0;
  for (const uint64_t ticks : times) {
    sum += ticks;
    squares += ticks * ticks;
  }
  process.health.set_hooks_timed(times.size());
  process.health.set_hook_timed_one_in(100);
  process.health.set_hook_ticks(sum);
  process.health.set_hook_ticks_squared(squares);
  return HookCostOf(process);
}

TEST(HookCost, IsAnEstimateWithItsInterval) {
  // Mean 20, variance 100 * (4 / 4): half of them 10, half 30.
  const HookCost cost = CostOf({10, 30, 10, 30});
  EXPECT_EQ(cost.count, 400u);
  EXPECT_EQ(cost.ns, 8000);
  EXPECT_NEAR(cost.low_ns, 400 * 20 - 3920, 1) << "1.96 * 10 / sqrt(4) each";
  EXPECT_NEAR(cost.high_ns, 400 * 20 + 3920, 1);
}

TEST(HookCost, IsAtLeastWhatWasTimed) {
  const HookCost cost = CostOf({10, 10, 10, 1'000'000});
  EXPECT_EQ(cost.low_ns, 1'000'030)
      << "one was preempted: the interval alone would reach below zero";
  EXPECT_GT(cost.high_ns, cost.ns);
}

TEST(HookCost, NothingTimedIsNothing) {
  EXPECT_EQ(CostOf({}).count, 0u);
  EXPECT_EQ(CostOf({}).high_ns, 0);
}

}  // namespace
}  // namespace gpuprof::analysis::test
