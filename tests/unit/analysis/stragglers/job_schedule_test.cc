// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "analysis/stragglers/job_lanes.h"
#include "analysis/stragglers/what_if.h"

namespace gpuprof::analysis::test {
namespace {

constexpr int64_t kTransfer = 50, kUpdate = 30;

// Lanes that compute forward and backward, reduce together, and update. `work`: the backward time
// of a lane in a step.
template <typename Work>
JobLanes MakeJob(size_t lanes, size_t steps, const Work& work) {
  JobLanes job;
  job.names = {"reduce"};
  job.lanes.resize(lanes);
  std::vector<int64_t> now(lanes, 1000);
  for (size_t step = 0; step < steps; ++step) {
    int64_t last = 0;
    for (size_t lane = 0; lane < lanes; ++lane)
      last = std::max(last, now[lane] + 100 + work(step, lane));
    for (size_t lane = 0; lane < lanes; ++lane) {
      LaneStep& made = job.lanes[lane].steps.emplace_back();
      made.number = step;
      made.follows = step != 0;
      const int64_t start = now[lane], forward = start + 100, arrival = forward + work(step, lane);
      const int64_t done = last + kTransfer;
      made.pieces = {{{start, forward}, LanePhase::kForward},
                     {{forward, arrival}, LanePhase::kBackward},
                     {{done, done + kUpdate}, LanePhase::kOptimizer}};
      made.collectives = {{arrival, done, 0, 0, {arrival, done}}};
      made.span = {start, done + kUpdate};
      now[lane] = made.span.end;
    }
  }
  return job;
}

int64_t SlowLane(size_t step, size_t lane) { return lane == 2 && step >= 2 ? 260 : 200; }

TEST(JobSchedule, TheJobIsPlayedAsItWas) {
  const JobSchedule made = MakeJobSchedule(MakeJob(4, 5, SlowLane));
  ASSERT_EQ(made.fault, JobFault::kNone);
  EXPECT_EQ(made.schedule.types,
            (std::vector<std::string>{"forward", "backward", "reduce", "optimizer"}));
  const Simulation simulation(made.schedule);
  const WhatIf what_if = AskWhatIf(made.schedule, simulation);
  // 2 steps of 380, and 3 of 440.
  EXPECT_DOUBLE_EQ(what_if.observed_ns, 2 * 380 + 3 * 440);
  EXPECT_DOUBLE_EQ(what_if.real_ns, what_if.observed_ns);
  EXPECT_DOUBLE_EQ(what_if.ideal_ns, 5 * (380 + 60.0 * 3 / 20));
  // No lane waits in its own work, and the transfer has no wait in it.
  EXPECT_DOUBLE_EQ(made.schedule.durations[2][0], kTransfer);
  EXPECT_DOUBLE_EQ(made.schedule.durations[2][4 * 4 + 2], kTransfer);
}

TEST(JobSchedule, WorkDuringACollectiveIsNoWait) {
  // The first of two collectives runs while the backward pass goes on.
  JobLanes job;
  job.names = {"bucket"};
  for (const int64_t extra : {0, 40}) {
    JobLane& lane = job.lanes.emplace_back();
    for (int64_t step = 0; step < 2; ++step) {
      const int64_t start = step * 500, second = start + 200 + extra, done = start + 300;
      LaneStep& made = lane.steps.emplace_back();
      made.number = static_cast<uint64_t>(step);
      made.follows = step != 0;
      made.span = {start, start + 320};
      made.pieces = {{{start, second}, LanePhase::kBackward},
                     {{done, done + 20}, LanePhase::kOptimizer}};
      made.collectives = {{start + 100, start + 150, 0, 0, {}},
                          {second, done, 0, 0, {second, done}}};
    }
  }
  const JobSchedule made = MakeJobSchedule(job);
  ASSERT_EQ(made.fault, JobFault::kNone);
  const Simulation simulation(made.schedule);
  Choice choice;
  choice.is_real = true;
  // The steps begin behind each other, without the pause between them.
  EXPECT_EQ(simulation.Play(choice), (std::vector<double>{320, 320}));
  // Without the lane that is slow, the other's 200 count.
  EXPECT_DOUBLE_EQ(TimeWithout(made.schedule, simulation, {1}), 2 * (100 + 120 + 60 + 20));
}

TEST(JobSchedule, StepsAreMatchedByNumberOrByTime) {
  JobLanes job = MakeJob(3, 6, SlowLane);
  // Lane 1 was recorded later.
  job.lanes[1].steps.erase(job.lanes[1].steps.begin(), job.lanes[1].steps.begin() + 2);
  JobSchedule made = MakeJobSchedule(job);
  EXPECT_EQ(made.schedule.steps, (std::vector<uint64_t>{2, 3, 4, 5}));
  EXPECT_EQ(made.rows[1], (std::vector<size_t>{0, 1, 2, 3}));
  // Numbers that the program gave count more than times.
  for (JobLane& lane : job.lanes) lane.has_numbers = true;
  for (LaneStep& step : job.lanes[1].steps) step.number += 1;
  made = MakeJobSchedule(job);
  EXPECT_EQ(made.schedule.steps, (std::vector<uint64_t>{3, 4, 5}));
}

TEST(JobSchedule, StepsWithOtherCollectivesAndWarmUpAreLeftOut) {
  JobLanes job = MakeJob(3, 6, SlowLane);
  job.lanes[0].steps[1].collectives.clear();
  for (JobLane& lane : job.lanes) lane.steps[0].is_warmup = true;
  const JobSchedule made = MakeJobSchedule(job);
  EXPECT_EQ(made.schedule.steps, (std::vector<uint64_t>{2, 3, 4, 5}));
  EXPECT_EQ(made.left_out_steps, 2u);
}

TEST(JobSchedule, AskedStepsAlone) {
  const JobLanes job = MakeJob(3, 6, SlowLane);
  EXPECT_EQ(MakeJobSchedule(job, std::pair<uint64_t, uint64_t>{2, 3}).schedule.steps,
            (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(MakeJobSchedule(job, std::pair<uint64_t, uint64_t>{7, 9}).fault,
            JobFault::kNoSuchSteps);
}

TEST(JobSchedule, FaultsSayWhatIsMissing) {
  EXPECT_EQ(MakeJobSchedule({}).fault, JobFault::kNoSteps);
  JobLanes job = MakeJob(2, 2, SlowLane);
  for (JobLane& lane : job.lanes)
    for (LaneStep& step : lane.steps) step.collectives.clear();
  EXPECT_EQ(MakeJobSchedule(job).fault, JobFault::kNoCollectives);
  job = MakeJob(2, 2, SlowLane);
  job.names.push_back("gather");
  for (LaneStep& step : job.lanes[1].steps) step.collectives[0].name = 1;
  EXPECT_EQ(MakeJobSchedule(job).fault, JobFault::kDifferentOrder);
}

TEST(JobSchedule, ALateLaneMayLackTheEnd) {
  JobLanes job = MakeJob(4, 5, SlowLane);
  for (LaneStep& step : job.lanes[2].steps) {
    step.collectives[0].has_end = false;
    step.collectives[0].wait = {};
  }
  const JobSchedule made = MakeJobSchedule(job);
  ASSERT_EQ(made.fault, JobFault::kNone);
  EXPECT_DOUBLE_EQ(made.schedule.durations[2][4 * 4 + 2], kTransfer);
  for (JobLane& lane : job.lanes)
    for (LaneStep& step : lane.steps) step.collectives[0].has_end = false;
  EXPECT_EQ(MakeJobSchedule(job).fault, JobFault::kNoEnds);
}

}  // namespace
}  // namespace gpuprof::analysis::test
