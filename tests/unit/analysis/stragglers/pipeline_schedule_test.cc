// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/stragglers/operation_rows.h"
#include "analysis/stragglers/what_if.h"

namespace gpuprof::analysis::test {
namespace {

constexpr double kMs = 1e6;

class RowMaker {
 public:
  // Adds an operation. Times are milliseconds.
  void Add(uint32_t replica, uint32_t stage, int64_t step, const std::string& type, double start,
           double took, uint32_t number = 0) {
    auto found = std::find(rows.types.begin(), rows.types.end(), type);
    if (found == rows.types.end()) found = rows.types.insert(rows.types.end(), type);
    rows.type.push_back(static_cast<uint32_t>(found - rows.types.begin()));
    rows.replica.push_back(replica);
    rows.stage.push_back(stage);
    rows.rank.push_back(stage * 2 + replica);
    rows.step.push_back(step);
    rows.start_ns.push_back(start * kMs);
    rows.took_ns.push_back(took * kMs);
    rows.number.push_back(number);
    const bool is_pass = type.ends_with("-compute");
    rows.chunk.push_back(is_pass ? 0 : -1);
    rows.model_chunk.push_back(is_pass ? static_cast<int32_t>(stage) : -1);
  }

  // Adds a step of two stages: a batch goes to the last stage and back, and the optimizers run.
  // `last`: how long a pass takes on the last stage; 10 on the first one.
  void AddStep(uint32_t replica, int64_t step, double last) {
    double now = 0;
    Add(replica, 0, step, "forward-compute", now, 10);
    Add(replica, 1, step, "forward-recv", now, 12);  // waits from the begin on
    now += 10;
    Add(replica, 0, step, "forward-send", now, 2);
    now += 2;
    Add(replica, 1, step, "forward-compute", now, last);
    now += last;
    Add(replica, 1, step, "backward-compute", now, 2 * last);
    Add(replica, 0, step, "backward-recv", 12, now + 2 * last + 2 - 12);
    now += 2 * last;
    Add(replica, 1, step, "backward-send", now, 2);
    now += 2;
    Add(replica, 0, step, "backward-compute", now, 20);
    Add(replica, 1, step, "optimizer-clip-main-grad", now, 21);
    now += 20;
    Add(replica, 0, step, "optimizer-clip-main-grad", now, 1);
    now += 1;
    for (const uint32_t stage : {0u, 1u}) Add(replica, stage, step, "optimizer", now, 3);
  }

  OperationRows rows;
};

TEST(PipelineSchedule, AStepIsPlayedAsItWas) {
  RowMaker made;
  for (const int64_t step : {5, 6}) made.AddStep(0, step, 30);
  PipelineSchedule pipeline;
  const Error error = MakePipelineSchedule(made.rows, &pipeline);
  ASSERT_FALSE(error) << error.message;
  EXPECT_EQ(pipeline.schedule.steps, (std::vector<uint64_t>{5, 6}));
  EXPECT_EQ(pipeline.schedule.stages, 2u);
  const Simulation simulation(pipeline.schedule);
  ASSERT_TRUE(simulation.is_possible());
  const WhatIf what_if = AskWhatIf(pipeline.schedule, simulation);
  // 10 + 2 + 30 + 60 + 2 + 20 + 1 + 3, and nothing waits for anything else.
  EXPECT_DOUBLE_EQ(what_if.observed_ns, 2 * 128 * kMs);
  EXPECT_DOUBLE_EQ(what_if.real_ns, 2 * 128 * kMs);
  EXPECT_DOUBLE_EQ(what_if.Error(), 0);
  // A transfer begins when both are there: receives take as long as sends.
  for (size_t i = 0; i < pipeline.schedule.operations.size(); ++i) {
    const PlannedOperation& operation = pipeline.schedule.operations[i];
    const std::string& type = pipeline.schedule.types[operation.type];
    if (!type.ends_with("pp-comm")) continue;
    EXPECT_DOUBLE_EQ(pipeline.schedule.durations[i][0], 2 * kMs) << type;
  }
  // Passes take 20 and 40 in the mean: 10 + 2 + ... becomes 20 + 2 + 20 + 40 + 2 + 40 + 1 + 3.
  EXPECT_DOUBLE_EQ(what_if.ideal_ns, 2 * 128 * kMs);
}

TEST(PipelineSchedule, RanksAreKnownByReplicaAndStage) {
  RowMaker made;
  for (uint32_t replica = 0; replica < 2; ++replica)
    for (int64_t step = 0; step < 3; ++step) made.AddStep(replica, step, replica == 1 ? 50 : 30);
  PipelineSchedule pipeline;
  ASSERT_FALSE(MakePipelineSchedule(made.rows, &pipeline));
  EXPECT_EQ(pipeline.ranks, (std::vector<int64_t>{0, 2, 1, 3}));
  const WhatIf what_if = AskWhatIf(pipeline.schedule, Simulation(pipeline.schedule));
  // Clipping waits for all replicas: 10 + 2 + 50 + 100 + 2 + 20 + 1 + 3.
  EXPECT_DOUBLE_EQ(what_if.real_ns, 3 * 188 * kMs);
  ASSERT_TRUE(what_if.has_groups);
  ASSERT_EQ(what_if.slowest.size(), 1u);
  EXPECT_EQ(pipeline.ranks[what_if.slowest[0]], 3);
}

TEST(PipelineSchedule, StepsWithOtherOperationsAreLeftOut) {
  RowMaker made;
  for (int64_t step = 0; step < 4; ++step) made.AddStep(0, step, 30);
  made.Add(0, 0, 2, "gc", 200, 1);
  PipelineSchedule pipeline;
  ASSERT_FALSE(MakePipelineSchedule(made.rows, &pipeline));
  EXPECT_EQ(pipeline.schedule.steps, (std::vector<uint64_t>{0, 1, 3}));
  EXPECT_EQ(pipeline.left_out_steps, 1u);
}

TEST(PipelineSchedule, WrongTablesAreNamed) {
  PipelineSchedule out;
  EXPECT_NE(MakePipelineSchedule(OperationRows(), &out).message.find("no operations"),
            std::string::npos);
  RowMaker unknown;
  unknown.AddStep(0, 0, 30);
  unknown.Add(0, 0, 0, "nap", 0, 1);
  EXPECT_NE(MakePipelineSchedule(unknown.rows, &out).message.find("'nap'"), std::string::npos);
  RowMaker twice;
  twice.AddStep(0, 0, 30);
  twice.AddStep(0, 0, 30);
  EXPECT_NE(MakePipelineSchedule(twice.rows, &out).message.find("two operations"),
            std::string::npos);
  RowMaker far;
  far.AddStep(0, 0, 30);
  far.rows.replica.back() = 4'000'000'000;
  EXPECT_NE(MakePipelineSchedule(far.rows, &out).message.find("workers are missing"),
            std::string::npos);
  RowMaker alone;
  alone.Add(0, 0, 0, "forward-compute", 0, 10);
  alone.Add(0, 0, 0, "forward-send", 10, 2);
  alone.Add(0, 1, 0, "forward-compute", 12, 10);
  EXPECT_NE(MakePipelineSchedule(alone.rows, &out).message.find("no peer"), std::string::npos);
}

}  // namespace
}  // namespace gpuprof::analysis::test
