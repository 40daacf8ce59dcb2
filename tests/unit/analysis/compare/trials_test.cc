// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "proto/results/trials.pb.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "proto/results/advice.pb.h"

namespace gpuprof::analysis {
namespace {

results::Advice AdviceWith(std::initializer_list<const char*> rules) {
  results::Advice advice;
  for (const char* rule : rules) {
    results::Finding* finding = advice.add_findings();
    finding->set_id(rule);
    finding->mutable_gain()->set_high_ratio(0.5);
  }
  return advice;
}

void AddVariable(int finding, const char* name, results::Advice* advice) {
  advice->mutable_findings(finding)->add_remedies()->add_variables()->set_name(name);
}

results::Trials Plan(const results::Advice& advice, const std::vector<std::string>& nodes) {
  return static_cast<const results::Trials&>(*PlanTrials(advice, nodes));
}

TEST(PlanTrials, TriesTheProcessorsOfEachNodeOnce) {
  const results::Advice advice = AdviceWith({"GP-006", "SY-001", "LA-001"});
  const results::Trials trials = Plan(advice, {"0-3", "4-7"});
  ASSERT_EQ(trials.trials_size(), 2);
  EXPECT_EQ(trials.trials(0).id(), "SY-001");
  EXPECT_EQ(trials.trials(0).processors(), "0-3");
  EXPECT_EQ(trials.trials(1).processors(), "4-7");
  EXPECT_EQ(trials.trials(1).predicted().high_ratio(), 0.5);
  EXPECT_EQ(trials.not_tried_size(), 2) << "GP-006 and LA-001";
  EXPECT_EQ(Plan(advice, {}).trials_size(), 0) << "the machine has one node";
}

TEST(PlanTrials, TriesAChangeOfTwoFindingsOnce) {
  results::Advice advice = AdviceWith({"TH-001", "EN-001"});
  AddVariable(0, "OMP_NUM_THREADS", &advice);
  AddVariable(1, "OMP_NUM_THREADS", &advice);
  AddVariable(1, "NCCL_DEBUG", &advice);
  const results::Trials trials = Plan(advice, {});
  ASSERT_EQ(trials.trials_size(), 2);
  EXPECT_EQ(trials.trials(0).id(), "TH-001");
  EXPECT_EQ(trials.trials(1).remedy().variables(0).name(), "NCCL_DEBUG");
  ASSERT_EQ(trials.not_tried_size(), 1);
  EXPECT_EQ(trials.not_tried(0).reason(), "the same change is tried for TH-001");
}

}  // namespace
}  // namespace gpuprof::analysis
