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

// A product of matrices on the tensor cores, in 16 bits.
const char* const kProduct = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_kernel";

// Makes steps of five products of 160 us, and 200 us in which `body` makes work.
template <typename Body>
Trace StepsWith(const Body& body) {
  return FiveSteps([&](LoopMaker& loop) {
    loop.DescribeDevice();
    loop.Shape(kProduct, 132 * 8, 256);
    for (int i = 0; i < 5; ++i) loop.Kernel(kProduct, 160);
    body(loop);
  });
}

TEST(KernelRules, AKernelWhoseRegistersLimitItsOccupancy) {
  // 1,024 threads of 64 registers: 65,536, one block a multiprocessor is half of its warps. With
  // 255 registers, 256 threads are one block: 8 of 64 warps.
  const auto make = [](uint32_t registers) {
    return StepsWith([=](LoopMaker& loop) {
      loop.Shape("scan_rows", 132 * 20, 256, registers);
      loop.Kernel("scan_rows", 200);
    });
  };
  const results::Advice advice = Advise(make(255));
  const results::Finding* finding = Find(advice, "GP-003");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("20.0 % of the kernels' time (200 us a step)"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("scan_rows, 12.5 %, limited by registers"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("__launch_bounds__"));
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 100e3, 5e3) << "half of it";
  EXPECT_EQ(finding->confidence().level(), results::LEVEL_LOW);
  EXPECT_THAT(Ids(Advise(make(64))), Not(Contains("GP-003")));
  // Products have few warps by design.
  EXPECT_THAT(Ids(Advise(StepsWith([](LoopMaker& loop) {
                loop.Shape("big_gemm_kernel", 132 * 20, 256, 255);
                loop.Kernel("big_gemm_kernel", 200);
              }))),
              Not(Contains("GP-003")));
}

TEST(KernelRules, AGridThatIsTooSmall) {
  const auto make = [](uint32_t blocks, int64_t us) {
    return StepsWith([=](LoopMaker& loop) {
      loop.Shape("recurrent_cell", blocks, 1024);
      for (int64_t done = 0; done < 200; done += us) loop.Kernel("recurrent_cell", us, 1);
    });
  };
  const results::Advice advice = Advise(make(33, 200));
  const results::Finding* finding = Find(advice, "GP-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("recurrent_cell, 33 blocks for 132 multiprocessors"));
  // A quarter of the multiprocessors works: three quarters of the time could do other work.
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 150e3, 5e3);
  EXPECT_THAT(Ids(Advise(make(120, 200))), Not(Contains("GP-004"))) << "persistent kernels";
  EXPECT_THAT(Ids(Advise(make(33, 8))), Not(Contains("GP-004"))) << "too short to be filled";
}

TEST(KernelRules, ANearlyEmptyLastWave) {
  // 8 blocks of 256 threads are on a multiprocessor at a time: 1,056 on the device.
  const auto make = [](uint32_t blocks) {
    return StepsWith([=](LoopMaker& loop) {
      loop.Shape("stencil", blocks, 256);
      loop.Kernel("stencil", 200);
    });
  };
  const results::Advice advice = Advise(make(1056 + 106));
  const results::Finding* finding = Find(advice, "GP-005");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("stencil, 1.10 waves"));
  // 1.1 of 2 waves have work.
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 90e3, 4e3);
  EXPECT_THAT(Ids(Advise(make(1056))), Not(Contains("GP-005")));
  EXPECT_THAT(Ids(Advise(make(1056 + 500))), Not(Contains("GP-005")));
  EXPECT_THAT(Ids(Advise(make(1056 * 4 + 106))), Not(Contains("GP-005")));
}

TEST(KernelRules, ProgramsOf32Bits) {
  const auto make = [](const char* name) {
    return FiveSteps([=](LoopMaker& loop) {
      for (int i = 0; i < 10; ++i) loop.Kernel(name, 100);
    });
  };
  const results::Advice advice =
      Advise(make("cutlass_80_tensorop_s1688gemm_128x128_16x5_nt_align4_tf32"));
  const results::Finding* finding = Find(advice, "GP-007");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain().high_ratio(), 0.5, 0.02);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("0.0 % of the time of kernels of known type"));
  EXPECT_THAT(Ids(Advise(make(kProduct))), Not(Contains("GP-007")));
  // Without tensor cores, another rule says the same.
  const results::Advice plain = Advise(make("ampere_sgemm_128x64_tn"));
  EXPECT_THAT(Ids(plain), Contains("GP-006"));
  EXPECT_THAT(Ids(plain), Not(Contains("GP-007")));
}

TEST(KernelRules, AttentionOfSingleKernels) {
  const auto make = [](const char* softmax, uint32_t depth) {
    return StepsWith([=](LoopMaker& loop) {
      const std::string product = std::string(kProduct) + "_batched";
      loop.Shape(product, 132, 256, 32, depth);
      loop.Kernel(product, 50);
      loop.Kernel("scale_and_mask", 60);
      loop.Kernel(softmax, 40);
      loop.Kernel(product, 50);
    });
  };
  const char* const softmax =
      "void softmax_warp_forward<float, float, float, 9, false, false>(float*)";
  const results::Advice advice = Advise(make(softmax, 16));
  const results::Finding* finding = Find(advice, "GP-009");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("1 a step times"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("10.0 % of the kernels' time (100 us a step)"));
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 100e3, 5e3);
  EXPECT_THAT(Ids(Advise(make(softmax, 1))), Not(Contains("GP-009")))
      << "a router, or a classifier";
  EXPECT_THAT(Ids(Advise(make("cunn_LogSoftMaxForward", 16))), Not(Contains("GP-009")));
}

TEST(KernelRules, KernelsThatBecomeSlower) {
  const auto make = [](int64_t later) {
    LoopMaker loop;
    for (int step = 0; step < 10; ++step) {
      loop.BeginStep();
      for (int i = 0; i < 4; ++i) loop.Kernel("hash_join", step < 5 ? 100 : later);
      loop.Kernel(kProduct, 400);
      loop.Synchronize();
    }
    return loop.Build();
  };
  const results::Advice advice = Advise(make(170));
  const results::Finding* finding = Find(advice, "GP-014");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("hash_join, 1.70 times as long"));
  EXPECT_THAT(Ids(Advise(make(140))), Not(Contains("GP-014")));
}

TEST(KernelRules, ChangesOfTypesAndLayouts) {
  const auto make = [](int64_t us) {
    return StepsWith([=](LoopMaker& loop) {
      loop.Kernel("void at::native::elementwise_kernel<direct_copy_kernel_cuda>(int)", us);
    });
  };
  const results::Advice advice = Advise(make(200));
  const results::Finding* finding = Find(advice, "GP-015");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("20.0 % of the kernels' time (200 us a step)"));
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 100e3, 5e3);
  EXPECT_THAT(Ids(Advise(make(60))), Not(Contains("GP-015")));
}

TEST(KernelRules, CollectivesThatSlowKernels) {
  const auto make = [](int64_t beside) {
    return FiveSteps([=](LoopMaker& loop) {
      for (int i = 0; i < 3; ++i) loop.Kernel(kProduct, 200);
      loop.UseStream(20);
      loop.Host(600);
      loop.Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", 3 * beside - 100);
      loop.UseStream(7);
      for (int i = 0; i < 3; ++i) loop.Kernel(kProduct, beside);
    });
  };
  const results::Advice advice = Advise(make(300));
  const results::Finding* finding = Find(advice, "CO-006");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("1.50 times as long"));
  EXPECT_THAT(Ids(Advise(make(220))), Not(Contains("CO-006")));
}

// One step of forty has 30 ms of host work in it.
TEST(KernelRules, LongGaps) {
  const auto make = [](int64_t pause_us) {
    LoopMaker loop;
    for (int step = 0; step < 40; ++step) {
      loop.BeginStep();
      if (step == 5) loop.Op("evaluate", pause_us);
      // The call lasts nearly as long as the kernel: the host is not far ahead.
      for (int i = 0; i < 10; ++i) loop.Kernel(kProduct, 1000, 999);
    }
    return loop.Build();
  };
  const results::Advice advice = Advise(make(30'000));
  const results::Finding* finding = Find(advice, "GP-002");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(Ids(advice), Not(Contains("LA-001")));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("in step 5, during evaluate"));
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 30e6 / 40, 5e4);
  EXPECT_THAT(Ids(Advise(make(8'000))), Not(Contains("GP-002")));
}

}  // namespace
}  // namespace gpuprof::analysis::test
