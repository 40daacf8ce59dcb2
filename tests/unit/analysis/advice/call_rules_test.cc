// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/operations.h"
#include "tests/unit/analysis/advice/loop_maker.h"

namespace gpuprof::analysis::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProduct = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn";

// The host waits behind each kernel, and needs 400 us for the next: without the waits both work at
// the same time.
TEST(CallRules, AWaitBehindEachKernel) {
  const auto make = [](bool waits) {
    return FiveSteps([=](LoopMaker& loop) {
      for (int i = 0; i < 10; ++i) {
        loop.Host(400);
        loop.Kernel(kProduct, 600);
        if (waits) loop.Synchronize();
      }
    });
  };
  const results::Advice advice = Advise(make(true));
  const results::Finding* finding = Find(advice, "SY-001");
  ASSERT_NE(finding, nullptr);
  // 6.0 ms instead of 10.2 ms.
  EXPECT_NEAR(finding->gain().high_ratio(), 0.4, 0.03);
  // The wait at the end of a step finds the device idle. Behind the last one of all nothing
  // follows.
  EXPECT_THAT(WordsOf(*finding), HasSubstr("cudaDeviceSynchronize 9.80 a step"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("For longest behind cudaDeviceSynchronize: 4"));
  EXPECT_THAT(Ids(advice), Not(Contains("LA-001"))) << "the waits explain it";
  // Only the first launch of a step is late then.
  const results::Advice once = Advise(make(false));
  ASSERT_NE(Find(once, "SY-001"), nullptr);
  EXPECT_NEAR(Find(once, "SY-001")->gain().high_ratio(), 0.07, 0.01);
}

TEST(CallRules, AWaitAtTheEndOfABusyStepIsNoMatter) {
  EXPECT_THAT(Ids(Advise(FiveSteps([](LoopMaker& loop) {
                for (int i = 0; i < 10; ++i) loop.Kernel(kProduct, 1000);
              }))),
              Not(Contains("SY-001")));
}

TEST(CallRules, AllocationsInSteps) {
  const auto make = [](const char* call) {
    return FiveSteps([=](LoopMaker& loop) {
      for (int i = 0; i < 4; ++i) {
        loop.Call(call, 300);
        loop.Kernel(kProduct, 100);
      }
    });
  };
  const results::Advice advice = Advise(make("cudaMalloc"));
  const results::Finding* finding = Find(advice, "SY-002");
  ASSERT_NE(finding, nullptr);
  // 1,200 us of calls; 400 us of kernels remain, of which one is hidden behind the next call.
  EXPECT_NEAR(finding->gain().high_ratio(), 0.72, 0.05);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("4 a step"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("cudaMalloc of 300 us"));
  EXPECT_THAT(Ids(advice), Not(Contains("LA-001")));
  EXPECT_THAT(Ids(advice), Not(Contains("LA-005")));
  EXPECT_THAT(Ids(Advise(make("cudaMallocAsync"))), Not(Contains("SY-002"))) << "of a pool";
}

TEST(CallRules, AllocationsThatTheDeviceDoesNotWaitFor) {
  EXPECT_THAT(Ids(Advise(FiveSteps([](LoopMaker& loop) {
                for (int i = 0; i < 5; ++i) loop.Kernel(kProduct, 1000);
                loop.Call("cudaMalloc", 300);
              }))),
              Not(Contains("SY-002")));
}

TEST(CallRules, TheLegacyStreamAndAnother) {
  const auto make = [](uint32_t other_flag) {
    LoopMaker loop;
    for (int i = 0; i < 5; ++i) {
      loop.BeginStep();
      for (int k = 0; k < 4; ++k) {
        loop.UseStream(8, 3);
        loop.Kernel("a", 200);
        loop.UseStream(9, other_flag);
        loop.Kernel("b", 200);
      }
      loop.Synchronize();
    }
    return loop.Build();
  };
  // The maker lets streams overlap. This is what CUDA does with streams that do not block.
  EXPECT_THAT(Ids(Advise(make(2))), Not(Contains("SY-003")));
  EXPECT_THAT(Ids(Advise(make(1))), Not(Contains("SY-003"))) << "they did overlap";
  LoopMaker held;
  for (int i = 0; i < 5; ++i) {
    held.BeginStep();
    const int64_t at = held.now();
    for (int k = 0; k < 8; ++k) held.Call("cudaLaunchKernel", 5);
    const uint32_t kernel = held.builder().Signature("k" + std::to_string(i), 1, 32);
    held.UseStream(8, 3);
    held.UseStream(9, 1);
    TrackBuilder& legacy = held.stream(8);
    TrackBuilder& blocking = held.stream(9);
    const auto first = static_cast<uint32_t>(i * 9 + 1);
    for (uint32_t k = 0; k < 8; ++k) {
      const int64_t start = (at + 50 + k * 200) * kUs;
      (k % 2 == 0 ? legacy : blocking).Kernel(kernel, start, start + 199 * kUs, first + k);
    }
    held.Host(1700);
    held.Call("cudaDeviceSynchronize", 5);
  }
  const results::Advice advice = Advise(held.Build());
  const results::Finding* finding = Find(advice, "SY-003");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("7 a step"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("1 other stream waits"));
}

TEST(CallRules, SlowCalls) {
  const auto make = [](int64_t slow_us) {
    return FiveSteps([=](LoopMaker& loop) {
      for (int i = 0; i < 20; ++i) loop.Kernel(kProduct, 20, i % 10 == 0 ? slow_us : 15);
    });
  };
  const results::Advice advice = Advise(make(400));
  const results::Finding* finding = Find(advice, "LA-005");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding),
              HasSubstr("2 a step: calls of cudaLaunchKernel longer than 50.0 us"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("cudaLaunchKernel of 400 us"));
  EXPECT_NEAR(finding->gain().high_ratio(), 0.65, 0.03);
  EXPECT_THAT(Ids(Advise(make(40))), Not(Contains("LA-005")));
}

TEST(CallRules, AFullQueueIsNoLoss) {
  LoopMaker loop;
  for (int i = 0; i < 5; ++i) {
    loop.BeginStep();
    for (int k = 0; k < 2000; ++k) {
      // From the 1,025th launch on the host waits until work has ended.
      loop.Kernel(kProduct, 100, i == 0 && k < 1024 ? 5 : 100);
    }
  }
  const results::Advice advice = Advise(loop.Build());
  const results::Finding* finding = Find(advice, "LA-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity(), results::SEVERITY_INFO);
  EXPECT_FALSE(finding->has_gain());
  EXPECT_THAT(Ids(advice), Not(Contains("LA-005")));
  EXPECT_THAT(Ids(advice), Not(Contains("LA-001")));
}

TEST(CallRules, CodeThatIsLoadedInSteps) {
  const auto make = [](int64_t us) {
    return FiveSteps([=](LoopMaker& loop) {
      loop.Kernel(kProduct, 100);
      loop.Synchronize();
      loop.Call("cuModuleLoadData", us);
      loop.Kernel(kProduct, 100);
    });
  };
  const results::Advice advice = Advise(make(1000));
  const results::Finding* finding = Find(advice, "LA-007");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain().high_ratio(), 0.82, 0.03);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("cuModuleLoadData of 1.00 ms"));
  EXPECT_THAT(Ids(advice), Not(Contains("ST-005")));
  EXPECT_THAT(Ids(Advise(make(1))), Not(Contains("LA-007")));
}

TEST(CallRules, StepsThatCompileAgain) {
  const auto make = [](const char* name) {
    return FiveSteps([=](LoopMaker& loop) {
      loop.Op(name, 2000);
      loop.Kernel(kProduct, 500);
    });
  };
  const results::Advice advice = Advise(make("compile_fx_inner (dynamo_timed)"));
  const results::Finding* finding = Find(advice, "ST-005");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 2000 * kUs, 10 * kUs);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("1 a step"));
  // Compiled code that runs.
  EXPECT_THAT(Ids(Advise(make("torch/_inductor/compile_fx.py(1870): run"))),
              Not(Contains("ST-005")));
}

TEST(CallRules, LaunchesThatWaitForTheirKernel) {
  const auto make = [](int64_t call_us) {
    return FiveSteps([=](LoopMaker& loop) {
      for (int i = 0; i < 30; ++i) loop.KernelInCall(kProduct, 50, call_us);
    });
  };
  const results::Advice advice = Advise(make(70));
  const results::Finding* finding = Find(advice, "EN-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("150 of 150 launches wait"));
  EXPECT_THAT(Ids(Advise(make(20))), Not(Contains("EN-001")));
}

}  // namespace
}  // namespace gpuprof::analysis::test
