// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/compare/trial_change.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gpuprof::analysis::test {
namespace {

using Runs = google::protobuf::RepeatedPtrField<results::TrialRun>;

Runs RunsOf(std::initializer_list<int64_t> step_ns, uint64_t steps = 10) {
  Runs runs;
  for (const int64_t ns : step_ns) {
    results::TrialRun* run = runs.Add();
    run->set_step_count(steps);
    run->set_step_mean_ns(ns);
    run->set_wall_ns(1000);
  }
  return runs;
}

// Differences of 10, 20 and 30 %: their mean is 20 %, their deviation 10 %, Student's t 4.303.
TEST(TrialChange, IsStudentsOfTheRounds) {
  const auto change = ChangeOf(RunsOf({100, 200, 1000}), RunsOf({90, 160, 700}));
  ASSERT_TRUE(change);
  EXPECT_NEAR(change->mean_ratio(), 0.2, 1e-9);
  EXPECT_NEAR(change->high_ratio() - change->mean_ratio(), 4.303 * 0.1 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(change->low_ratio(), 0.2 - 4.303 * 0.1 / std::sqrt(3.0), 1e-9);
  EXPECT_FALSE(change->is_of_run());
}

TEST(TrialChange, ComparesRunsWhereOneHasNoSteps) {
  const auto change = ChangeOf(RunsOf({100, 100}), RunsOf({50, 50}, 0));
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->is_of_run());
  EXPECT_EQ(change->mean_ratio(), 0);
}

TEST(TrialChange, NeedsTwoRounds) {
  EXPECT_FALSE(ChangeOf(RunsOf({100}), RunsOf({90})));
  EXPECT_FALSE(ChangeOf(RunsOf({100, 100}), RunsOf({90})));
  EXPECT_FALSE(ChangeOf(RunsOf({0, 100}), RunsOf({90, 90}))) << "a run without a time";
}

}  // namespace
}  // namespace gpuprof::analysis::test
