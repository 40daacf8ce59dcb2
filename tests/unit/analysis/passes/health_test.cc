// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/passes/passes.h"
#include "analysis/passes/recorder/recorder_cost.h"
#include "proto/results/health.pb.h"
#include "proto/results/meta.pb.h"
#include "proto/results/overview.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
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

// What the recorder writes as a capture begins is all that a process killed early leaves.
TEST(Cost, OfAProcessThatWasKilledEarlyIsNotKnown) {
  ProcessBuilder killed(1);
  killed.Thread(1).Alloc(0, 0x10, 64).Alloc(2 * kMs, 0x20, 64);
  killed.process().recovered = true;
  killed.process().health.set_process_cpu_ns(1'460'000);
  const Trace trace = MakeTrace({&killed});
  const auto health = RunPass<results::Health>("health", trace);
  EXPECT_FALSE(health.processes(0).has_drain_cpu_ns());
  EXPECT_FALSE(health.processes(0).has_background_ratio());
  EXPECT_FALSE(health.processes(0).has_slowdown_ratio());
  EXPECT_FALSE(health.processes(0).has_cpu_ratio());
  EXPECT_EQ(health.processes(0).process_cpu_ns(), 0);
  const std::string text = Render(health, Format::kText, {}, 200);
  EXPECT_THAT(text, testing::HasSubstr("cost   not known"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("0.0 %")));
  const auto overview = RunPass<results::Overview>("overview", trace);
  EXPECT_FALSE(overview.cost().has_background_ratio());
  EXPECT_FALSE(overview.cost().has_slowdown_ratio());
  EXPECT_EQ(overview.cost().unmeasured_process_count(), 1u);
  EXPECT_THAT(Render(overview, Format::kText, {}, 200), testing::HasSubstr("cost: not known"));
}

// A file that was cut between two blocks is whole in each of its bytes.
TEST(Losses, OfATraceWithoutItsEndAreNotNothing) {
  ProcessBuilder cut(1);
  cut.Thread(1).Alloc(0, 0x10, 64).Alloc(2 * kMs, 0x20, 64);
  cut.process().has_end = false;
  const auto health = RunPass<results::Health>("health", MakeTrace({&cut}));
  ASSERT_EQ(health.meta().notes_size(), 1);
  EXPECT_THAT(health.meta().notes(0), testing::StartsWith("pid 1: its trace has no end"));
  EXPECT_EQ(health.meta().confidence().level(), results::LEVEL_LOW);
  EXPECT_FALSE(health.processes(0).has_cpu_ratio()) << "what it cost stands at the end";
  // Of a process that still runs no end is missing.
  cut.process().alive = true;
  const auto alive = RunPass<results::Health>("health", MakeTrace({&cut}));
  EXPECT_EQ(alive.meta().confidence().level(), results::LEVEL_HIGH);
}

// Walks that were preempted while they were timed.
TEST(Cost, IsNoMoreThanTheProcessorTimeOfTheProcess) {
  ProcessBuilder builder(1);
  builder.Thread(1).Alloc(0, 0x10, 64).Alloc(100 * kMs, 0x20, 64);
  proto::Health& health = builder.process().health;
  health.set_drain_cpu_ns(10'000'000);
  health.set_process_cpu_ns(50'000'000);
  health.set_stack_samples(1000);
  health.set_stack_ns(233'000'000);
  const auto result = RunPass<results::Health>("health", MakeTrace({&builder}));
  EXPECT_TRUE(result.processes(0).cost_limited());
  EXPECT_DOUBLE_EQ(result.processes(0).cpu_ratio(), 1);
  EXPECT_DOUBLE_EQ(result.processes(0).slowdown_ratio(), 0.4);
  EXPECT_THAT(Render(result, Format::kText, {}, 200), testing::HasSubstr("at most 40.0 %"));
  health.set_stack_ns(20'000'000);
  const auto less = RunPass<results::Health>("health", MakeTrace({&builder}));
  EXPECT_FALSE(less.processes(0).cost_limited());
  EXPECT_DOUBLE_EQ(less.processes(0).cpu_ratio(), 0.6);
}

TEST(Cost, OfSeveralProcessesIsThatOfTheMeasured) {
  ProcessBuilder measured(1);
  measured.Thread(1).Alloc(0, 0x10, 64).Alloc(100 * kMs, 0x20, 64);
  measured.process().health.set_drain_cpu_ns(1'000'000);
  measured.process().recovered = true;
  ProcessBuilder killed(2);
  killed.Thread(2).Alloc(0, 0x10, 64);
  killed.process().recovered = true;
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&measured, &killed}));
  EXPECT_DOUBLE_EQ(overview.cost().background_ratio(), 0.01);
  EXPECT_EQ(overview.cost().unmeasured_process_count(), 1u);
  EXPECT_THAT(Render(overview, Format::kText, {}, 200),
              testing::HasSubstr("not known for 1 process that ended before it was measured"));
}

// A process that ended before it had a drain.
TEST(Cost, OfAShortProcessIsItsBeginAndEnd) {
  ProcessBuilder brief(1);
  brief.Thread(1).Alloc(0, 0x10, 64).Alloc(kMs, 0x20, 64);
  brief.process().health.set_begin_end_cpu_ns(500'000);
  brief.process().recovered = true;
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&brief}));
  EXPECT_EQ(overview.cost().begin_end_ns(), 500'000);
  EXPECT_EQ(overview.cost().unmeasured_process_count(), 0u);
  EXPECT_DOUBLE_EQ(overview.cost().slowdown_ratio(), 0.5);
  EXPECT_THAT(Render(overview, Format::kText, {}, 0),
              testing::HasSubstr("begin and end of recording in 500 us"));
  const auto health = RunPass<results::Health>("health", MakeTrace({&brief}));
  EXPECT_EQ(health.processes(0).begin_end_ns(), 500'000);
}

// Any of them may have been an allocation.
TEST(Losses, OfAnExactHeapAreInTheOverview) {
  ProcessBuilder builder(1);
  builder.process().heap_mode = static_cast<uint32_t>(proto::HeapMode::kExact);
  builder.Thread(1).Alloc(0, 0x10, 64).Alloc(kMs, 0x20, 64);
  proto::Loss* loss = builder.process().health.add_loss();
  loss->set_kind(proto::LOSS_RING_FULL);
  loss->set_count(5);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  EXPECT_EQ(overview.memory().lost_count(), 5u);
  EXPECT_THAT(Render(overview, Format::kText, {}, 0),
              testing::HasSubstr("5 records were lost, so there may be more bytes than shown"));
}

// To ask threads to wait helps only where they do not wait yet.
TEST(Losses, OfFullRingsHaveARemedyThatHelps) {
  for (const auto mode : {proto::HeapMode::kSampled, proto::HeapMode::kExact}) {
    ProcessBuilder builder(1);
    builder.Thread(1).Alloc(0, 0x10, 64);
    builder.process().heap_mode = static_cast<uint32_t>(mode);
    proto::Loss* loss = builder.process().health.add_loss();
    loss->set_kind(proto::LOSS_RING_FULL);
    loss->set_count(5);
    const auto health = RunPass<results::Health>("health", MakeTrace({&builder}));
    const bool is_exact = mode == proto::HeapMode::kExact;
    for (const std::string& fix :
         {health.processes(0).losses(0).fix(), health.meta().losses(0).fix()}) {
      EXPECT_THAT(fix, testing::HasSubstr("--ring-memory"));
      EXPECT_EQ(fix.find("--on-full") == std::string::npos, is_exact) << fix;
    }
  }
}

}  // namespace
}  // namespace gpuprof::analysis::test
