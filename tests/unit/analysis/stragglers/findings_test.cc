// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/stragglers/findings.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/analysis/stragglers/made_schedule.h"

namespace gpuprof::analysis::test {
namespace {

constexpr size_t kRanks = 12, kSteps = 40;

// Deviations of up to 1 %, always the same ones.
double Shaken(double value, size_t step, size_t rank) {
  const size_t mixed = (step * 7919 + rank * 104'729 + step * rank * 31) % 201;
  return value * (1 + (static_cast<double>(mixed) - 100) / 10'000);
}

using Extra = std::function<double(size_t step, size_t rank)>;

Schedule MakeJob(const Extra& forward, const Extra& backward) {
  Schedule job = MakeSchedule(kRanks, kSteps);
  job.is_chained = true;
  std::vector<double> times[3];
  for (size_t step = 0; step < kSteps; ++step) {
    for (size_t rank = 0; rank < kRanks; ++rank) {
      times[0].push_back(Shaken(1000, step, rank) + forward(step, rank));
      times[1].push_back(Shaken(2000, step, rank + 5) + backward(step, rank));
      times[2].push_back(Shaken(500, step, 1));
    }
  }
  AddOperation(&job, "forward", false, times[0]);
  AddOperation(&job, "backward", false, times[1]);
  AddOperation(&job, "reduce", true, times[2]);
  return job;
}

double Nothing(size_t, size_t) { return 0; }

StragglerFindings Find(const Schedule& job, std::vector<std::string> hosts = {}) {
  if (hosts.empty()) hosts.assign(kRanks, "host");
  const Simulation simulation(job);
  return FindStragglers(job, simulation, AskWhatIf(job, simulation), hosts);
}

TEST(Stragglers, NobodyIsSlowInABalancedJob) {
  const StragglerFindings found = Find(MakeJob(Nothing, Nothing));
  EXPECT_EQ(found.verdict, StragglerVerdict::kBalanced);
  EXPECT_TRUE(found.workers.empty());
}

TEST(Stragglers, RankPhaseAndFirstStepAreFound) {
  const Schedule job = MakeJob(
      Nothing, [](size_t step, size_t rank) { return rank == 7 && step >= 15 ? 800.0 : 0.0; });
  const StragglerFindings found = Find(job);
  EXPECT_EQ(found.verdict, StragglerVerdict::kWorkers);
  ASSERT_EQ(found.workers.size(), 1u);
  const SlowWorker& slow = found.workers[0];
  EXPECT_EQ(slow.worker, 7u);
  EXPECT_EQ(job.types[slow.type], "backward");
  EXPECT_EQ(slow.steps.first, 15u);
  EXPECT_EQ(slow.steps.last, kSteps - 1);
  EXPECT_NEAR(slow.extra_ns, 800, 40);
  EXPECT_NEAR(slow.usual_ns, 2000, 40);
  EXPECT_NEAR(slow.step_ns, 4300, 60);
  EXPECT_NEAR(slow.saved_ns, 800 * 25, 800 * 25 * 0.1);
}

TEST(Stragglers, SeveralSlowRanksOfDifferentKindsAreFound) {
  const Schedule job =
      MakeJob([](size_t step, size_t rank) { return rank == 2 && step < 20 ? 700.0 : 0.0; },
              [](size_t, size_t rank) { return rank == 9 ? 400.0 : 0.0; });
  const StragglerFindings found = Find(job);
  ASSERT_EQ(found.workers.size(), 2u);
  for (const SlowWorker& slow : found.workers) {
    const bool is_first = slow.worker == 2;
    EXPECT_TRUE(is_first || slow.worker == 9);
    EXPECT_EQ(job.types[slow.type], is_first ? "forward" : "backward");
    EXPECT_EQ(slow.steps.count(), is_first ? 20u : kSteps);
    EXPECT_NEAR(slow.extra_ns, is_first ? 700 : 400, 40);
  }
  // Together they save more than one by one.
  EXPECT_GT(found.saved_ns, found.workers[0].saved_ns + found.workers[1].saved_ns);
}

TEST(Stragglers, AHostIsNamedIfItsRanksAreSlow) {
  const auto is_slow = [](size_t rank) { return rank / 4 == 1; };
  const Schedule job =
      MakeJob(Nothing, [&](size_t, size_t rank) { return is_slow(rank) ? 600.0 : 0.0; });
  std::vector<std::string> hosts;
  for (size_t rank = 0; rank < kRanks; ++rank) hosts.push_back("node" + std::to_string(rank / 4));
  const StragglerFindings found = Find(job, hosts);
  EXPECT_EQ(found.workers.size(), 4u);
  EXPECT_EQ(found.hosts, std::vector<std::string>{"node1"});
  for (const SlowWorker& slow : found.workers) {
    EXPECT_TRUE(is_slow(slow.worker));
    EXPECT_TRUE(slow.with_host);
  }
}

TEST(Stragglers, RanksThatAreSlowInTurnsAreNotNamed) {
  const StragglerFindings found = Find(MakeJob(
      Nothing, [](size_t step, size_t rank) { return step * 5 % kRanks == rank ? 900.0 : 0.0; }));
  EXPECT_EQ(found.verdict, StragglerVerdict::kInTurns);
  EXPECT_TRUE(found.workers.empty());
}

TEST(Stragglers, OneLongStepIsNoHabit) {
  const StragglerFindings found = Find(MakeJob(
      Nothing, [](size_t step, size_t rank) { return step == 20 && rank == 3 ? 20'000.0 : 0.0; }));
  EXPECT_TRUE(found.workers.empty());
}

TEST(Stragglers, EachStepNamesWhomItWaitedFor) {
  const Schedule job = MakeJob(
      Nothing, [](size_t step, size_t rank) { return step * 5 % kRanks == rank ? 900.0 : 0.0; });
  const auto culprits = FindCulprits(job, Simulation(job));
  ASSERT_EQ(culprits.size(), kSteps);
  for (size_t step = 0; step < kSteps; ++step) {
    ASSERT_TRUE(culprits[step]);
    EXPECT_EQ(culprits[step]->worker, step * 5 % kRanks);
    EXPECT_EQ(job.types[culprits[step]->type], "backward");
    EXPECT_NEAR(culprits[step]->extra_ns, 900 * (1 - 1.0 / kRanks), 60);
  }
}

}  // namespace
}  // namespace gpuprof::analysis::test
