// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the overview tells of a program without steps, of steps that a range marks, and of a program
// that is compiled.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/results/overview.pb.h"
#include "proto/results/steps.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::MakeTrace;
using test::ProcessBuilder;
using test::RunPass;
using test::TrackBuilder;
using ::testing::HasSubstr;

const results::Finding* FindRule(const results::Overview& overview, const std::string& id) {
  for (const results::Finding& finding : overview.findings())
    if (finding.id() == id) return &finding;
  return nullptr;
}

std::string Evidence(const results::Finding& finding) {
  std::string all;
  for (const std::string& line : finding.evidence()) all += line + "\n";
  return all;
}

TEST(RunWithoutSteps, TellsWhereItsTimeWent) {
  ProcessBuilder builder(7);
  builder.Thread(7, "main")
      .Sample(0, 0)
      .Sample(2000 * kMs, 900 * kMs, 300 * kMs)
      .Wait(proto::WaitKind::kSleep, 0, 0x10, 0, 500 * kMs)
      .Wait(proto::WaitKind::kSleep, 0, 0x10, 1000 * kMs, 1300 * kMs);
  builder.Thread(8, "pool").Sample(0, 0).Sample(2000 * kMs, 1500 * kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  const results::Finding* finding = FindRule(overview, "RU-001");
  ASSERT_NE(finding, nullptr);
  const std::string evidence = Evidence(*finding);
  EXPECT_THAT(evidence, HasSubstr("Thread main (7)")) << "the main thread, although pool ran more";
  EXPECT_THAT(evidence, HasSubstr("900 ms (45.0 %) on a processor"));
  EXPECT_THAT(evidence, HasSubstr("300 ms (15.0 %) ready but without a processor"));
  EXPECT_THAT(evidence, HasSubstr("800 ms (40.0 %) in waits"));
  EXPECT_THAT(evidence, HasSubstr("800 ms in 2 waits of kind `sleep`"));
  EXPECT_THAT(finding->fix(1), HasSubstr("--step-marker"));
}

TEST(RunWithoutSteps, AMainThreadThatWaitsForOthersDoesNotLead) {
  ProcessBuilder builder(7);
  builder.Thread(7, "main").Sample(0, 0).Sample(2000 * kMs, 20 * kMs);
  builder.Thread(8, "pool").Sample(0, 0).Sample(2000 * kMs, 1500 * kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  const results::Finding* finding = FindRule(overview, "RU-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->evidence(0), HasSubstr("Thread pool (8)"));
  EXPECT_EQ(finding->fix_size(), 1) << "it does not wait";
}

TEST(RunWithoutSteps, AShortRunHasNoAccount) {
  ProcessBuilder builder(7);
  builder.Thread(7).Sample(0, 0).Sample(300 * kMs, 200 * kMs);
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
  EXPECT_EQ(FindRule(overview, "RU-001"), nullptr);
}

// Without PyTorch: the steps are those of the ranges, and no advice is about PyTorch.
TEST(RunWithRanges, ARangeMarksSteps) {
  ProcessBuilder builder(7);
  TrackBuilder& track = builder.Thread(7);
  track.Sample(0, 0).Sample(2000 * kMs, 1000 * kMs);
  for (int i = 0; i < 10; ++i) {
    const int64_t at = i * 200 * kMs;
    track.Range("", "step", at, at + 180 * kMs);
    track.Wait(proto::WaitKind::kInput, 5, 0x10, at + 20 * kMs, at + 80 * kMs);
  }
  PassOptions options;
  options.step_marker = "^step$";
  const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}), options);
  EXPECT_EQ(overview.steps().count(), 10u);
  EXPECT_EQ(overview.steps().median_ns(), 200 * kMs);
  EXPECT_EQ(FindRule(overview, "RU-001"), nullptr);
  EXPECT_EQ(FindRule(overview, "HO-001"), nullptr) << "no operation of any framework was recorded";
  ASSERT_NE(FindRule(overview, "SY-007"), nullptr);
  EXPECT_EQ(FindRule(overview, "SY-007")->gain().high_ns(), 60 * kMs);
}

TEST(Advice, DoesNotCompileTheCompiled) {
  for (const bool compiled : {false, true}) {
    ProcessBuilder builder(7);
    TrackBuilder& track = builder.Thread(7);
    for (int i = 0; i < 10; ++i) {
      const int64_t at = i * 100 * kMs;
      track.Op(compiled ? "Torch-Compiled Region: 0/0" : "aten::mm", at, at + 20 * kMs);
      track.Backward("MmBackward0", at + 20 * kMs, at + 40 * kMs);
      track.Optimizer(at + 80 * kMs, at + 90 * kMs);
    }
    const auto overview = RunPass<results::Overview>("overview", MakeTrace({&builder}));
    const results::Finding* finding = FindRule(overview, "HO-001");
    ASSERT_NE(finding, nullptr);
    bool compile = false;
    for (const std::string& fix : finding->fix())
      compile = compile || fix.find("torch.compile(model)") != std::string::npos;
    EXPECT_EQ(compile, !compiled);
  }
}

}  // namespace
}  // namespace gpuprof::analysis
