// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/stragglers/what_if.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis/stragglers/made_schedule.h"

namespace gpuprof::analysis::test {
namespace {

// Replicas 0 and 1 compute 10 and 20, exchange 5, and compute 4 and 4.
Schedule TwoReplicas() {
  Schedule schedule = MakeSchedule(2, 1);
  AddOperation(&schedule, "compute", false, {10, 20});
  AddOperation(&schedule, "reduce", true, {5, 5});
  AddOperation(&schedule, "update", false, {4, 4});
  schedule.observed_ns = {30};
  return schedule;
}

TEST(WhatIf, TheSlowReplicaOfTwoCausesAll) {
  const Schedule schedule = TwoReplicas();
  const Simulation simulation(schedule);
  ASSERT_TRUE(simulation.is_possible());
  const WhatIf what_if = AskWhatIf(schedule, simulation);
  EXPECT_DOUBLE_EQ(what_if.real_ns, 29);   // 20 + 5 + 4
  EXPECT_DOUBLE_EQ(what_if.ideal_ns, 24);  // 15 + 5 + 4
  EXPECT_DOUBLE_EQ(what_if.slowdown, 29.0 / 24);
  EXPECT_DOUBLE_EQ(what_if.Error(), 1.0 / 30);
  ASSERT_TRUE(what_if.has_groups);
  EXPECT_DOUBLE_EQ(what_if.types[0].slowdown, 29.0 / 24);
  EXPECT_DOUBLE_EQ(*what_if.types[0].without_ns, 24);
  EXPECT_DOUBLE_EQ(what_if.types[1].slowdown, 1);
  EXPECT_DOUBLE_EQ(*what_if.types[1].without_ns, 29);
  // Alone, replica 0 waits for an ideal one.
  EXPECT_DOUBLE_EQ(what_if.workers[0].slowdown, 1);
  EXPECT_DOUBLE_EQ(what_if.workers[1].slowdown, 29.0 / 24);
  EXPECT_EQ(what_if.slowest, std::vector<uint32_t>{1});
  EXPECT_DOUBLE_EQ(*what_if.worker_part, 1);
  EXPECT_FALSE(what_if.stage_part);
}

TEST(WhatIf, GroupsAreAskedFromALossOfThreePercentOn) {
  for (const auto& [slow, is_asked] : {std::pair{105.0, false}, {107.0, true}}) {
    Schedule schedule = MakeSchedule(2, 1);
    AddOperation(&schedule, "compute", false, {100, slow});
    AddOperation(&schedule, "reduce", true, {0, 0});
    const WhatIf what_if = AskWhatIf(schedule, Simulation(schedule));
    EXPECT_EQ(what_if.has_groups, is_asked) << what_if.slowdown;
    EXPECT_EQ(what_if.worker_part.has_value(), is_asked);
  }
}

TEST(WhatIf, StepsOfAChainBeginWhereTheWorkersEnded) {
  // Each replica is slow once, behind the exchange: only the next exchange waits for it.
  Schedule schedule = MakeSchedule(2, 2);
  AddOperation(&schedule, "reduce", true, {1, 1, 1, 1});
  AddOperation(&schedule, "update", false, {9, 3, 3, 3});
  Choice choice;
  choice.is_real = true;
  EXPECT_EQ(Simulation(schedule).Play(choice), (std::vector<double>{10, 4}));
  schedule.is_chained = true;
  // The second exchange begins at 10, and all end at 14.
  EXPECT_EQ(Simulation(schedule).Play(choice), (std::vector<double>{10, 4}));
  // Without an exchange replica 1 goes on: it ends at 8, and replica 0 at 14.
  schedule.operations[0].group = kNoPeers;
  schedule.groups.clear();
  EXPECT_EQ(Simulation(schedule).Play(choice), (std::vector<double>{10, 4}));
  schedule.durations[1] = {9, 3, 3, 11};
  // Replica 0: 10, 14. Replica 1: 4, 16.
  EXPECT_EQ(Simulation(schedule).Play(choice), (std::vector<double>{10, 6}));
}

TEST(WhatIf, IdealsAreMeansOfComputingAndMediansOfTransfers) {
  Schedule schedule = MakeSchedule(4, 1);
  AddOperation(&schedule, "compute", false, {1, 2, 3, 10});
  AddOperation(&schedule, "reduce", true, {1, 2, 4, 90});
  const Simulation simulation(schedule);
  EXPECT_DOUBLE_EQ(simulation.ideal(0), 4);
  EXPECT_DOUBLE_EQ(simulation.ideal(1), 3);
}

TEST(WhatIf, OneReplicaStandsForAllIdealOnes) {
  Schedule schedule = MakeSchedule(3, 2);
  AddOperation(&schedule, "compute", false, {10, 12, 8, 6, 30, 12});
  AddOperation(&schedule, "reduce", true, {5, 5, 5, 5, 5, 5});
  AddOperation(&schedule, "update", false, {1, 2, 3, 4, 5, 6});
  for (const bool is_chained : {false, true}) {
    schedule.is_chained = is_chained;
    const Simulation simulation(schedule);
    for (uint32_t replica = 0; replica < 3; ++replica) {
      Choice choice;
      choice.exceptions.assign(3, 0);
      choice.replicas = {{replica}};
      EXPECT_EQ(simulation.PlayReplica(replica), simulation.Play(choice)) << replica;
    }
  }
}

TEST(WhatIf, PathsNameTheLastToCome) {
  const Schedule schedule = TwoReplicas();
  const auto paths = Simulation(schedule).Paths();
  ASSERT_EQ(paths.size(), 1u);
  ASSERT_EQ(paths[0].size(), 3u);
  EXPECT_EQ(paths[0][2].operation, 0u);
  EXPECT_EQ(paths[0][2].replica, 1u);
  EXPECT_DOUBLE_EQ(paths[0][2].ns, 20);
  EXPECT_EQ(paths[0][1].operation, 1u);
}

TEST(WhatIf, DelaysCountForTheCheckAlone) {
  Schedule schedule = TwoReplicas();
  schedule.delays = {{1, 0}, {0, 0}, {0, 1}};
  const WhatIf what_if = AskWhatIf(schedule, Simulation(schedule));
  EXPECT_DOUBLE_EQ(what_if.real_ns, 29);
  EXPECT_DOUBLE_EQ(what_if.played_ns, 30);
  EXPECT_DOUBLE_EQ(what_if.Error(), 0);
}

TEST(WhatIf, ACircleCannotBePlayed) {
  Schedule schedule = TwoReplicas();
  EXPECT_EQ(OrderOf(schedule).size(), 3u);
  schedule.operations[0].after = {2};
  EXPECT_FALSE(Simulation(schedule).is_possible());
}

}  // namespace
}  // namespace gpuprof::analysis::test
