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

constexpr const char* kProduct = "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_tn";
constexpr uint64_t kMiB = 1 << 20;

// A copy from pageable memory, of 3 ms, holds up the launches behind it.
TEST(CopyRules, PageableMemoryHoldsUpTheHost) {
  const auto make = [](bool is_pageable) {
    return FiveSteps([=](LoopMaker& loop) {
      loop.Kernel(kProduct, 1000);
      loop.Copy(LoopMaker::kHtoD, 16 * kMiB, 3000, is_pageable);
      for (int i = 0; i < 4; ++i) loop.Kernel(kProduct, 1000);
    });
  };
  const results::Advice advice = Advise(make(true));
  const results::Finding* finding = Find(advice, "CP-001");
  ASSERT_NE(finding, nullptr);
  // 5 ms of kernels and 3 ms of copy.
  EXPECT_NEAR(finding->gain().high_ratio(), 3.0 / 8, 0.02);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("1 a step"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("16.0 MiB"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("HtoD of 3.00 ms"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("stream 7"));
  EXPECT_THAT(Ids(advice), Not(Contains("CP-003"))) << "the pageable memory explains it";
  EXPECT_THAT(Ids(advice), Not(Contains("SY-001")));
  EXPECT_THAT(Ids(Advise(make(false))), Not(Contains("CP-001"))) << "pinned memory";
  EXPECT_THAT(Ids(Advise(make(false))), Contains("CP-003")) << "but nothing hides the copy";
}

TEST(CopyRules, AFewPageableBytesAreNoMatter) {
  const results::Advice advice = Advise(FiveSteps([](LoopMaker& loop) {
    loop.Copy(LoopMaker::kHtoD, 16, 2, true);
    for (int i = 0; i < 5; ++i) loop.Kernel(kProduct, 1000);
  }));
  EXPECT_THAT(Ids(advice), Not(Contains("CP-001")));
}

TEST(CopyRules, CopiesThatWait) {
  const auto make = [](uint64_t bytes, int64_t us) {
    return FiveSteps([=](LoopMaker& loop) {
      loop.Kernel(kProduct, 1000);
      loop.Copy(LoopMaker::kHtoD, bytes, us, false, false);
      for (int i = 0; i < 4; ++i) loop.Kernel(kProduct, 500);
    });
  };
  const results::Advice advice = Advise(make(8 * kMiB, 1000));
  const results::Finding* finding = Find(advice, "CP-002");
  ASSERT_NE(finding, nullptr);
  // The copy, and the start of the launches behind it.
  EXPECT_NEAR(finding->gain().high_ratio(), 1.0 / 4, 0.02);
  EXPECT_THAT(Ids(advice), Not(Contains("CP-001")));
  EXPECT_THAT(Ids(advice), Not(Contains("CP-003")));
  EXPECT_THAT(Ids(Advise(make(64 << 10, 1000))), Not(Contains("CP-002")))
      << "small ones do not wait";
}

TEST(CopyRules, ManySmallCopies) {
  const auto make = [](int count, uint64_t bytes) {
    return FiveSteps([=](LoopMaker& loop) {
      for (int i = 0; i < count; ++i) loop.Copy(LoopMaker::kHtoD, bytes, 10, false);
      loop.Kernel(kProduct, 1000);
    });
  };
  const results::Advice advice = Advise(make(100, 4096));
  const results::Finding* finding = Find(advice, "CP-004");
  ASSERT_NE(finding, nullptr);
  // 99 of 100 copies are behind another one. One copy remains, and the kernel.
  EXPECT_NEAR(finding->gain().high_ratio(), 990.0 / 2015, 0.03);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("99 a step"));
  EXPECT_THAT(Ids(Advise(make(2, 4096))), Not(Contains("CP-004"))) << "no run";
  EXPECT_THAT(Ids(Advise(make(100, 1 << 20))), Not(Contains("CP-004"))) << "not small";
}

TEST(CopyRules, BytesThatComeBack) {
  const auto make = [](uint64_t back) {
    return FiveSteps([=](LoopMaker& loop) {
      loop.Kernel(kProduct, 1000);
      loop.Copy(LoopMaker::kDtoH, 4 * kMiB, 500, false, false);
      loop.Copy(LoopMaker::kHtoD, back, 500, false, false);
      loop.Kernel(kProduct, 1000);
    });
  };
  const results::Advice advice = Advise(make(4 * kMiB));
  const results::Finding* finding = Find(advice, "CP-006");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain().high_ratio(), 1.0 / 3, 0.02);
  EXPECT_EQ(finding->confidence().level(), results::LEVEL_MEDIUM);
  EXPECT_THAT(Ids(advice), Not(Contains("CP-002"))) << "one finding a mechanism";
  EXPECT_THAT(Ids(Advise(make(3 * kMiB))), Not(Contains("CP-006"))) << "another number of bytes";
}

TEST(CopyRules, MemoryThatIsSetAgainAndAgain) {
  const auto make = [](int64_t us) {
    return FiveSteps([=](LoopMaker& loop) {
      loop.Kernel(kProduct, 1000);
      for (int i = 0; i < 10; ++i) loop.Set(kMiB, us);
    });
  };
  const results::Finding* finding = nullptr;
  const results::Advice advice = Advise(make(50));
  finding = Find(advice, "CP-008");
  ASSERT_NE(finding, nullptr);
  EXPECT_NEAR(finding->gain().high_ratio(), 500.0 / 1520, 0.03);
  EXPECT_THAT(Ids(advice), Not(Contains("CP-003")));
  EXPECT_THAT(Ids(Advise(make(1))), Not(Contains("CP-008"))) << "below two per cent";
}

TEST(CopyRules, PagesThatMove) {
  const auto make = [](int64_t us) {
    LoopMaker loop;
    auto& pages = loop.builder().Stream(0, 1, 9);
    for (int i = 0; i < 5; ++i) {
      loop.BeginStep();
      const int64_t at = loop.now() * kUs;
      // Two migrations at the same time count once.
      pages.UnifiedMemory(1, 4096, 0x1000, at, at + us * kUs);
      pages.UnifiedMemory(1, 4096, 0x2000, at, at + us * kUs);
      loop.Kernel(kProduct, 1000);
      loop.Synchronize();
    }
    return loop.Build();
  };
  const results::Advice advice = Advise(make(100));
  const results::Finding* finding = Find(advice, "CP-007");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->evidence(0), HasSubstr("100 us of the mean step"));
  EXPECT_FALSE(finding->has_gain()) << "nobody knows what waited";
  EXPECT_THAT(Ids(Advise(make(10))), Not(Contains("CP-007")));
}

}  // namespace
}  // namespace gpuprof::analysis::test
