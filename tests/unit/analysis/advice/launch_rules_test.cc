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

std::string KernelOf(int i) { return "kernel_" + std::to_string(i); }

// 20 kernels of 20 us, and 300 us of the host before each.
TEST(LaunchRules, AHostThatIsLate) {
  const auto make = [](int64_t host_us) {
    return FiveSteps([=](LoopMaker& loop) {
      for (int i = 0; i < 20; ++i) {
        loop.Op(i % 2 == 0 ? "<built-in method add of type object at 0x7f0012ab34c0>"
                           : "<built-in method add of type object at 0x7f0099ab34c0>",
                host_us);
        loop.Kernel(KernelOf(i), 20);
      }
    });
  };
  const results::Advice advice = Advise(make(300));
  const results::Finding* finding = Find(advice, "LA-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain().high_ratio(), 0.94, 0.02);
  EXPECT_LE(finding->gain().high_ns(), advice.verdict().step_ns());
  // Addresses differ from run to run: names are told without them, and once.
  EXPECT_THAT(WordsOf(*finding), HasSubstr("<built-in method add of type object> 5."));
  EXPECT_THAT(WordsOf(*finding), Not(HasSubstr("0x7f")));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("5 of 5 steps run the same 20 kernels"));
  EXPECT_THAT(Ids(advice), Not(Contains("LA-006"))) << "one finding a mechanism";
  EXPECT_THAT(Ids(advice), Not(Contains("GP-001")));
  EXPECT_THAT(Ids(Advise(make(1))), Not(Contains("LA-001")));
}

// Data is late, not the launches.
TEST(LaunchRules, WaitsForDataAreOfAnotherRule) {
  const results::Advice advice = Advise(FiveSteps([](LoopMaker& loop) {
    loop.Loader(3000);
    for (int i = 0; i < 10; ++i) loop.Kernel(KernelOf(i), 100);
  }));
  EXPECT_THAT(Ids(advice), Not(Contains("LA-001")));
  ASSERT_NE(Find(advice, "IN-001"), nullptr);
  EXPECT_NEAR(Find(advice, "IN-001")->gain().high_ratio(), 0.74, 0.03);
}

TEST(LaunchRules, VeryShortKernels) {
  const auto make = [](int64_t us) {
    return FiveSteps([=](LoopMaker& loop) {
      for (int i = 0; i < 300; ++i)
        loop.Kernel("ampere_fp16_s16816gemm_fp16_" + KernelOf(i % 7), us, 1);
    });
  };
  const results::Advice advice = Advise(make(8));
  const results::Finding* finding = Find(advice, "LA-002");
  ASSERT_NE(finding, nullptr);
  // Half of their time.
  EXPECT_NEAR(finding->gain().high_ratio(), 0.45, 0.06);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("300 a step of 300 a step kernels are shorter"));
  EXPECT_THAT(Ids(Advise(make(12))), Not(Contains("LA-002")));
  PassOptions options;
  options.thresholds["LA-002.max_kernel"] = 20'000;
  EXPECT_THAT(Ids(Advise(make(12), options)), Contains("LA-002")) << "another threshold";
}

// An optimizer that updates parameters one by one, behind a product that hides most of the host.
TEST(LaunchRules, TheSameKernelAgainAndAgain) {
  const auto make = [](bool is_same) {
    return FiveSteps([=](LoopMaker& loop) {
      loop.Kernel("ampere_fp16_s16816gemm_fp16", 2000);
      loop.Synchronize();
      for (int i = 0; i < 40; ++i) {
        loop.Host(20);
        loop.Kernel(is_same ? "adam_update" : KernelOf(i), 4);
      }
    });
  };
  const results::Advice advice = Advise(make(true));
  const results::Finding* finding = Find(advice, "LA-003");
  ASSERT_NE(finding, nullptr);
  // 39 launches of 25 us, less the kernels' own time.
  EXPECT_NEAR(finding->gain().high_ratio(), 0.27, 0.04);
  EXPECT_THAT(WordsOf(*finding),
              HasSubstr("40 a step kernels repeat what is before them: adam_update"));
  EXPECT_THAT(Ids(advice), Not(Contains("LA-001"))) << "one finding a mechanism";
  EXPECT_THAT(Ids(Advise(make(false))), Not(Contains("LA-003")));
}

// Short gaps between kernels that were launched ahead.
TEST(LaunchRules, ACandidateForAGraph) {
  const auto make = [](int first_step_kernels) {
    LoopMaker loop;
    for (int step = 0; step < 10; ++step) {
      loop.BeginStep();
      const int kernels = step % 2 == 0 ? 60 : first_step_kernels;
      for (int i = 0; i < kernels; ++i) loop.Kernel(KernelOf(i % 7), 40, 42);
    }
    return loop.Build();
  };
  const results::Advice advice = Advise(make(60));
  const results::Finding* finding = Find(advice, "LA-006");
  ASSERT_NE(finding, nullptr) << testing::PrintToString(Ids(advice));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("10 of 10 steps run the same 60 kernels"));
  EXPECT_GT(finding->gain().high_ratio(), 0.03);
  EXPECT_THAT(Ids(Advise(make(50))), Not(Contains("LA-006"))) << "steps differ";
}

}  // namespace
}  // namespace gpuprof::analysis::test
