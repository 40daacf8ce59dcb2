// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/analysis/advice/loop_maker.h"

namespace gpuprof::analysis::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Steps on the host alone, with spans of these names and lengths.
Trace HostSteps(const std::string& name, int64_t part_us, int64_t between_us = 0,
                int64_t first_us = 1000) {
  ProcessBuilder builder(1);
  TrackBuilder& thread = builder.Thread(1);
  int64_t at = 0;
  for (int i = 0; i < 12; ++i) {
    const int64_t length = (i == 0 ? first_us : 1000) * kUs;
    thread.User("step " + std::to_string(i), at, at + length);
    thread.Op("aten::mm", at, at + length - part_us * kUs);
    if (part_us != 0) thread.Op(name, at + length - part_us * kUs, at + length);
    at += length + between_us * kUs;
  }
  return MakeTrace({&builder});
}

TEST(StepRules, WarmUpIsToldAndCostsNothing) {
  const results::Advice advice = Advise(HostSteps("", 0, 0, 20'000));
  const results::Finding* finding = Find(advice, "ST-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity(), results::SEVERITY_INFO);
  EXPECT_FALSE(finding->has_gain());
  EXPECT_THAT(finding->evidence(0), HasSubstr("1 step takes 20.0 times the median"));
  EXPECT_THAT(Ids(Advise(HostSteps("", 0, 0, 1500))), Not(Contains("ST-001")));
}

TEST(StepRules, GarbageIsCollectedInSteps) {
  const char* name = "<built-in function collect>";
  const results::Advice advice = Advise(HostSteps(name, 100));
  const results::Finding* finding = Find(advice, "ST-003");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain().high_ns(), 100 * kUs);
  EXPECT_THAT(finding->evidence(0), HasSubstr("100 us of the mean step of 1.00 ms (10.0 %)"));
  EXPECT_THAT(Ids(Advise(HostSteps(name, 5))), Not(Contains("ST-003")));
  EXPECT_THAT(Ids(Advise(HostSteps("collect_metrics", 100))), Not(Contains("ST-003")));
}

// Steps of 1 ms, each with a pause of the collector on another thread.
Trace StepsWithPauses(int64_t pause_us) {
  ProcessBuilder builder(1);
  TrackBuilder& thread = builder.Thread(1);
  for (int i = 0; i < 12; ++i) {
    const int64_t at = i * 1000 * kUs;
    thread.User("step " + std::to_string(i), at, at + 1000 * kUs);
    thread.Op("aten::mm", at, at + 900 * kUs);
  }
  TrackBuilder& other = builder.Thread(2);
  for (int i = 0; i < 12; ++i) {
    const int64_t at = (i * 1000 + 100) * kUs;
    other.GcPause(2, at, at + pause_us * kUs, 10);
  }
  return MakeTrace({&builder});
}

TEST(StepRules, PausesOfTheCollectorInSteps) {
  const results::Advice advice = Advise(StepsWithPauses(50));
  const results::Finding* finding = Find(advice, "ST-003");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain().high_ns(), 50 * kUs);
  EXPECT_THAT(finding->evidence(0), HasSubstr("50.0 us of the mean step of 1.00 ms (5.0 %)"));
  EXPECT_EQ(finding->caveat(), "");
  EXPECT_THAT(Ids(Advise(StepsWithPauses(9))), Not(Contains("ST-003")));
  EXPECT_THAT(Ids(advice), Not(Contains("PY-004")));
}

TEST(StepRules, CheckpointsInSteps) {
  const results::Advice advice = Advise(HostSteps("torch.save", 200));
  const results::Finding* finding = Find(advice, "ST-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain().high_ns(), 200 * kUs);
  EXPECT_THAT(finding->evidence(0), HasSubstr("torch.save of 200 us"));
  EXPECT_THAT(Ids(Advise(HostSteps("torch.save", 5))), Not(Contains("ST-004")));
}

TEST(StepRules, TimeBetweenSteps) {
  const results::Advice advice = Advise(HostSteps("", 0, 100));
  const results::Finding* finding = Find(advice, "ST-006");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain().high_ns(), 100 * kUs);
  EXPECT_THAT(Ids(Advise(HostSteps("", 0, 20))), Not(Contains("ST-006")));
}

// The device has work meanwhile.
TEST(StepRules, TimeBetweenStepsThatTheDeviceHides) {
  LoopMaker loop;
  for (int i = 0; i < 8; ++i) {
    loop.BeginStep();
    for (int k = 0; k < 10; ++k) loop.Kernel("ampere_fp16_s16816gemm_fp16", 1000);
    loop.EndStep();
    loop.Host(2000);
  }
  EXPECT_THAT(Ids(Advise(loop.Build())), Not(Contains("ST-006")));
}

// Sixty tokens, and before each tenth one a prompt of this length.
Trace Served(int64_t prompt_ms, int tokens = 60) {
  ProcessBuilder builder(1);
  TrackBuilder& thread = builder.Thread(1);
  int64_t at = 0;
  const auto run = [&](const char* name, int64_t length) {
    thread.User(name, at, at + length);
    at += length + 10 * kUs;
  };
  for (int i = 0; i < tokens; ++i) {
    if (i % 10 == 0) run("execute_context_1(400)_generation_0(0)", prompt_ms * kMs);
    run("execute_context_0(0)_generation_4(4)", 5 * kMs);
  }
  return MakeTrace({&builder});
}

TEST(StepRules, PromptsMakeTokensWait) {
  const results::Advice advice = Advise(Served(60));
  const results::Finding* finding = Find(advice, "ST-010");
  ASSERT_NE(finding, nullptr);
  EXPECT_FALSE(finding->has_gain());
  EXPECT_THAT(finding->evidence(0), HasSubstr("In 5 of 59 times from token to token"));
  EXPECT_THAT(finding->evidence(0), HasSubstr("of all is 65.0 ms; without these it is 5.01 ms"));
  EXPECT_THAT(Ids(Advise(Served(4))), Not(Contains("ST-010"))) << "a prompt is no long wait";
  EXPECT_THAT(Ids(Advise(Served(60, 50))), Not(Contains("ST-010"))) << "49 times tell nothing";
}

TEST(StepRules, SlowSettings) {
  const auto make = [](const char* name, const char* value) {
    ProcessBuilder builder(1);
    builder.process().environment[name] = value;
    builder.Thread(1).Event(0, proto::ThreadEvent::kStart);
    return Advise(MakeTrace({&builder}));
  };
  const results::Advice advice = make("CUDA_LAUNCH_BLOCKING", "1");
  const results::Finding* finding = Find(advice, "EN-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->evidence(0), HasSubstr("CUDA_LAUNCH_BLOCKING=1: each launch waits"));
  EXPECT_THAT(Ids(make("CUDA_LAUNCH_BLOCKING", "0")), Not(Contains("EN-001")));
  EXPECT_THAT(Ids(make("NCCL_DEBUG", "INFO")), Contains("EN-001"));
  EXPECT_THAT(Ids(make("NCCL_DEBUG", "WARN")), Not(Contains("EN-001")));
  // Four processors.
  EXPECT_THAT(Ids(make("OMP_NUM_THREADS", "9")), Contains("EN-001"));
  EXPECT_THAT(Ids(make("OMP_NUM_THREADS", "8")), Not(Contains("EN-001")));
}

TEST(StepRules, ARecordingWithoutSteps) {
  LoopMaker loop;
  for (int i = 0; i < 40; ++i) loop.Kernel("k" + std::to_string(i), 100);
  const results::Advice advice = Advise(loop.Build());
  ASSERT_NE(Find(advice, "OV-001"), nullptr);
  EXPECT_THAT(WordsOf(*Find(advice, "OV-001")), HasSubstr("--step-marker"));
  EXPECT_THAT(Ids(Advise(FiveSteps([](LoopMaker& steps) { steps.Kernel("k", 100); }))),
              Not(Contains("OV-001")));
}

TEST(StepRules, ASlowStart) {
  const auto make = [](int64_t start_s) {
    LoopMaker loop;
    loop.builder().Capture(0, (start_s + 10) * 1000 * kMs);
    loop.Host(start_s * 1'000'000);
    for (int i = 0; i < 5; ++i) {
      loop.BeginStep();
      loop.Kernel("k", 100);
      loop.Synchronize();
    }
    loop.builder().process().started_ns = 0;
    return Advise(loop.Build());
  };
  const results::Advice advice = make(80);
  const results::Finding* finding = Find(advice, "ST-009");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->evidence(0), HasSubstr("80.0 s"));
  EXPECT_THAT(Ids(make(50)), Not(Contains("ST-009")));
}

TEST(StepRules, ClocksThatAreFarApart) {
  const auto make = [](double residual_ns) {
    LoopMaker loop;
    loop.Kernel("k", 100);
    loop.builder().process().has_cupti_clock = true;
    loop.builder().process().cupti_clock.residual_ns = residual_ns;
    return Advise(loop.Build());
  };
  const results::Advice advice = make(50'000);
  const results::Finding* finding = Find(advice, "EN-002");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->evidence(0), HasSubstr("may differ by 50.0 us from"));
  EXPECT_THAT(Ids(make(500)), Not(Contains("EN-002")));
}

// Steps that differ by a factor of two: a gain of four per cent cannot be told from their noise.
TEST(StepRules, NoGainBelowTheNoiseOfTheSteps) {
  const auto make = [](bool is_even) {
    ProcessBuilder builder(1);
    TrackBuilder& thread = builder.Thread(1);
    int64_t at = 0;
    for (int i = 0; i < 12; ++i) {
      const int64_t length = (is_even || i % 2 == 0 ? 1000 : 1900) * kUs;
      thread.User("step " + std::to_string(i), at, at + length);
      thread.Op("aten::mm", at, at + length - 40 * kUs);
      thread.Op("torch.save", at + length - 40 * kUs, at + length);
      at += length;
    }
    return Advise(MakeTrace({&builder}));
  };
  EXPECT_THAT(Ids(make(true)), Contains("ST-004"));
  EXPECT_THAT(Ids(make(false)), Not(Contains("ST-004")));
}

}  // namespace
}  // namespace gpuprof::analysis::test
