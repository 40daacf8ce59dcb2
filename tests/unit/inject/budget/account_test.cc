// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The account against a program whose true cost is known: the same steps without a recording.

#include "inject/budget/account.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace gpuprof::inject::budget {
namespace {

constexpr double kMs = 1e6;

struct Program {
  // What step `i` takes without a recording.
  std::function<double(uint64_t i)> step = [](uint64_t) { return 3 * kMs; };
  double most_of_cost = 1e12;                     // what a step takes more than this costs nothing
  double noise = 0.02;                            // standard deviation, of a step
  double step_cost[kDetails] = {0.43, 0.2, 0.1};  // of a recorded step's time
  double begin = 2 * kMs, end = 4 * kMs;
  double seconds = 60;
  bool begins = true;  // captures can begin
};

struct Passed {
  double with = 0, without = 0;  // ns
  uint64_t recorded = 0;

  double Ratio() const { return with / without; }
};

Passed Simulate(const Program& program, Account* account, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(1, program.noise);
  Passed run;
  uint64_t now = 1'000'000'000;
  bool is_inside = false;
  const auto pass = [&](double ns) {
    now += static_cast<uint64_t>(ns);
    run.with += ns;
  };
  account->Step(now, false);
  for (uint64_t i = 0; run.without < program.seconds * 1e9; ++i) {
    const double bare = program.step(i) * std::max(0.1, noise(random));
    run.without += bare;
    const double cost = program.step_cost[account->detail()] * std::min(bare, program.most_of_cost);
    pass(bare + (is_inside ? cost : 0));
    run.recorded += is_inside ? 1 : 0;
    const Move move = account->Step(now, false);
    if (move == Move::kStay) continue;
    pass(move == Move::kBegin ? program.begin : program.end);
    if (program.begins) is_inside = move == Move::kBegin;
    account->Moved(now, program.begins);
  }
  return run;
}

Account With(double percent) {
  Account account;
  account.SetLimit({static_cast<uint64_t>(percent * 1e4), 0});
  return account;
}

TEST(Account, KeepsToTheLimitAndUsesIt) {
  for (const double percent : {1.0, 2.0, 3.0, 10.0}) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      Account account = With(percent);
      const Passed run = Simulate({}, &account, seed);
      EXPECT_LE(run.Ratio(), 1 + percent / 100 * 1.05) << percent << " % seed " << seed;
      EXPECT_GE(run.Ratio(), 1 + percent / 100 * 0.6) << percent << " % seed " << seed;
      EXPECT_EQ(run.recorded, account.recorded_steps());
    }
  }
}

TEST(Account, TellsTheCostThatTheWindowsHad) {
  Account account = With(3);
  const Passed run = Simulate({}, &account);
  const double cost = run.with - run.without;
  EXPECT_NEAR(account.cost_ns(), cost, 3 * account.cost_error_ns() + 0.05 * cost);
  EXPECT_GT(account.cost_error_ns(), 0);
  EXPECT_LT(account.cost_error_ns(), 0.5 * cost);
  EXPECT_NEAR(account.outside_ns(), 3 * kMs, 0.02 * 3 * kMs);
  EXPECT_NEAR(account.inside_ns(), 1.43 * 3 * kMs, 0.03 * 3 * kMs);
}

TEST(Account, KeepsToTheLimitAtAnyTimeAfterTheFirstWindow) {
  for (const double seconds : {1.0, 2.0, 5.0, 20.0}) {
    Program program;
    program.seconds = seconds;
    Account account = With(3);
    // What the first window costs more than was guessed is earned by and by.
    EXPECT_LE(Simulate(program, &account).Ratio(), 1.035) << seconds << " s";
  }
}

TEST(Account, RecordsNearlyAllOfWhatCostsNothing) {
  Program program;
  program.step_cost[kAll] = 0;
  program.begin = program.end = 0.1 * kMs;
  Account account = With(3);
  const Passed run = Simulate(program, &account);
  EXPECT_GT(static_cast<double>(account.recorded_steps()),
            0.6 * static_cast<double>(account.steps()));
  EXPECT_LE(run.Ratio(), 1.03);
  EXPECT_EQ(account.detail(), kAll);
}

TEST(Account, GivesUpDetailWhereTheLimitPermitsTooFewSteps) {
  Program program;
  program.step_cost[kAll] = 2.5;
  program.step_cost[kOperations] = 1;
  program.step_cost[kGpuOnly] = 0.05;
  Account account = With(1);
  const Passed run = Simulate(program, &account);
  EXPECT_EQ(account.detail(), kGpuOnly);
  EXPECT_GE(account.windows_by_detail(kAll), 3u);
  EXPECT_GE(account.windows_by_detail(kOperations), 3u);
  EXPECT_GT(account.windows_by_detail(kGpuOnly), account.windows_by_detail(kOperations));
  EXPECT_LE(run.Ratio(), 1.011);
}

TEST(Account, GivesUpNothingInVain) {
  Program program;
  program.step_cost[kAll] = 2.5;
  program.step_cost[kOperations] = 2.45;
  program.step_cost[kGpuOnly] = 2.4;
  Account account = With(1);
  Simulate(program, &account);
  EXPECT_EQ(account.detail(), kAll);
  EXPECT_EQ(account.windows_by_detail(kGpuOnly), 4u);
  EXPECT_GT(account.windows_by_detail(kAll), 4u);
}

TEST(Account, KeepsTheDetailThatIsAsCheapAsLess) {
  Program program;
  program.step_cost[kAll] = 2.5;
  program.step_cost[kOperations] = 1.2;
  program.step_cost[kGpuOnly] = 1.1;
  Account account = With(1);
  Simulate(program, &account);
  EXPECT_EQ(account.detail(), kOperations);
}

TEST(Account, KeepsDetailWhereNoiseIsLargerThanTheCost) {
  Program program;
  program.noise = 0.3;
  program.step_cost[kAll] = 0.05;
  program.begin = program.end = 0.2 * kMs;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Account account = With(1);
    Simulate(program, &account, seed);
    EXPECT_EQ(account.detail(), kAll) << seed;
  }
}

// Another program takes the processors now and then.
TEST(Account, IsNotMisledBySlowTimes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 phases(seed);
    uint64_t until = 0;
    bool is_slow = false;
    Program program;
    program.step = [&](uint64_t i) {
      if (i >= until) {
        is_slow = !is_slow;
        until = i + 1 + phases() % 200;
      }
      return is_slow ? 15 * kMs : kMs;
    };
    program.noise = 0.1;
    program.most_of_cost = kMs;
    Account account = With(5);
    const Passed run = Simulate(program, &account, seed);
    EXPECT_LE(run.Ratio(), 1.05 * 1.01) << seed;
    EXPECT_GT(run.recorded, 100u) << seed;
    const double cost = run.with - run.without;
    EXPECT_NEAR(account.cost_ns(), cost, 4 * account.cost_error_ns()) << seed;
    EXPECT_LT(account.windows_cut(), account.windows() / 2 + 2) << seed;
  }
}

TEST(Account, TakesCheckpointsForNoCost) {
  Program program;
  program.step = [](uint64_t i) { return i % 100 == 99 ? 60 * kMs : 3 * kMs; };
  program.most_of_cost = 3 * kMs;
  Account account = With(3);
  const Passed run = Simulate(program, &account);
  EXPECT_LE(run.Ratio(), 1.035);
  EXPECT_GE(run.Ratio(), 1.01);
}

TEST(Account, FollowsStepsThatBecomeLonger) {
  Program program;
  program.step = [](uint64_t i) { return (1 + static_cast<double>(i) / 5000) * 3 * kMs; };
  Account account = With(3);
  const Passed run = Simulate(program, &account);
  EXPECT_LE(run.Ratio(), 1.033);
  EXPECT_GE(run.Ratio(), 1.015);
}

TEST(Account, TakesATimeForEachStep) {
  Account account;
  account.SetLimit({0, 60'000});  // 2 % of a step
  const Passed run = Simulate({}, &account);
  const double added = (run.with - run.without) / static_cast<double>(account.steps());
  EXPECT_LE(added, 63'000);
  EXPECT_GE(added, 30'000);
}

TEST(Account, LongStepsAreWholeToo) {
  Program program;
  program.step = [](uint64_t) { return 4e9; };
  program.seconds = 2000;
  Account account = With(3);
  const Passed run = Simulate(program, &account);
  EXPECT_LE(run.Ratio(), 1.035);
  EXPECT_GE(account.recorded_steps(), 4u);
}

TEST(Account, SpendsNothingWhereNoCaptureCanBegin) {
  Program program;
  program.begins = false;
  program.begin = 0;
  Account account = With(3);
  Simulate(program, &account);
  EXPECT_EQ(account.windows(), 0u);
  EXPECT_EQ(account.recorded_steps(), 0u);
}

TEST(Account, AWindowThatIsCutIsPaidFor) {
  Account account = With(3);
  uint64_t now = 1;
  Move move = Move::kStay;
  for (account.Step(now, false); move == Move::kStay; move = account.Step(now, false))
    now += 3'000'000;
  ASSERT_EQ(move, Move::kBegin);
  account.Moved(now, true);
  ASSERT_NE(account.Deadline(), 0u);
  now = account.Deadline();
  account.Cut(now);
  EXPECT_EQ(account.windows_cut(), 1u);
  EXPECT_EQ(account.Deadline(), 0u);
  EXPECT_GE(account.recorded_ns(), 1'000'000'000u);
}

// Time that somebody else's capture has slowed is no measure.
TEST(Account, LeavesOutWhatIsDisturbed) {
  Account account = With(3);
  uint64_t now = 1;
  account.Step(now, false);
  for (int i = 0; i < 100'000; ++i) {
    now += 3'000'000;
    ASSERT_EQ(account.Step(now, true), Move::kStay);
  }
  EXPECT_EQ(account.outside_ns(), 0);
}

TEST(Account, WindowsOfTimeWhereThereAreNoSteps) {
  Account account = With(3);
  uint64_t now = 1, records = 0;
  double recorded = 0;
  bool is_inside = false;
  for (int i = 0; i < 20 * 600; ++i) {  // ten minutes, in looks of 50 ms
    now += 50'000'000;
    if (is_inside) {
      recorded += 50e6;
      records += 25'000;  // 0.5 million a second: 0.3 of the time
    }
    const Move move = account.Time(now, false, records);
    if (move == Move::kStay) continue;
    is_inside = move == Move::kBegin;
    now += 2'000'000;
    account.Moved(now, true);
  }
  const double share = recorded / 600e9;
  EXPECT_GT(share, 0.06);
  EXPECT_LT(share, 0.11);
  EXPECT_LE(account.cost_ns(), 0.031 * 600e9);
}

TEST(Account, StepsThatBeginLateReplaceWindowsOfTime) {
  Account account = With(3);
  uint64_t now = 1;
  Move move = Move::kStay;
  for (; move != Move::kBegin; move = account.Time(now, false, 0)) now += 50'000'000;
  now += 2'000'000;
  account.Moved(now, true);
  now += 10'000'000;
  EXPECT_EQ(account.Step(now, false), Move::kEnd);
  now += 4'000'000;
  account.Moved(now, true);
  const double before = account.cost_ns();
  for (int i = 0; i < 7; ++i) {
    now += 3'000'000;
    EXPECT_EQ(account.Step(now, false), Move::kStay);
  }
  EXPECT_EQ(account.cost_ns(), before);
}

}  // namespace
}  // namespace gpuprof::inject::budget
