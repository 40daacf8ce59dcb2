// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules that read the details of imported rows, and rules that compare ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/unit/analysis/advice/loop_maker.h"

namespace gpuprof::analysis::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const char* const kProduct = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_kernel";
const char* const kCollective = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)";
constexpr uint32_t kDetail = 1'000'000;  // the id of a string

// Gives all operations of a name the detail.
Trace WithOpDetail(Trace trace, const std::string& name, const std::string& detail) {
  Process& process = trace.processes[0];
  process.strings[kDetail] = detail;
  for (Track& track : process.tracks) {
    for (size_t i = 0; i < track.op.rows(); ++i)
      track.op.detail.push_back(process.String(track.op.name[i]) == name ? kDetail : 0);
  }
  return trace;
}

Trace StepsOfProducts(const std::string& op) {
  return FiveSteps([&](LoopMaker& loop) {
    for (int i = 0; i < 8; ++i) loop.Kernel("other_kernel", 100);
    for (int i = 0; i < 2; ++i) {
      loop.Open(op);
      loop.Kernel(kProduct, 100);
      loop.Close();
    }
  });
}

std::string Detail(const std::string& dims, const std::string& strides, const std::string& type) {
  return "{\"Input Dims\":" + dims + ",\"Input Strides\":" + strides + ",\"Input type\":[" + type +
         "," + type + "," + type + "]}";
}

TEST(DetailRules, DimensionsThatSlowTensorCores) {
  const auto advise = [](const std::string& op, const std::string& detail) {
    return Advise(WithOpDetail(StepsOfProducts(op), op, detail));
  };
  // A vocabulary of 30,522 words: its rows are two bytes times an even number that is not one of 8.
  const std::string half = "\"c10::BFloat16\"";
  const results::Advice advice = advise(
      "aten::addmm", Detail("[[30522],[4096,512],[512,30522]]", "[[1],[512,1],[1,512]]", half));
  const results::Finding* finding = Find(advice, "GP-008");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("20.0 % of the kernels' time (200 us a step)"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("4096x512 by 512x30522"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("multiples of 8"));
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 100e3, 5e3);
  EXPECT_THAT(Ids(advise("aten::addmm", Detail("[[30528],[4095,512],[512,30528]]",
                                               "[[1],[512,1],[1,512]]", half))),
              Not(Contains("GP-008")))
      << "rows begin at 16 bytes, however many they are";
  // The gradient of weights: 141 rows are summed, and no row has 141 elements.
  EXPECT_THAT(Ids(advise("aten::mm", Detail("[[512,141],[141,2048]]", "[[1,512],[2048,1]]", half))),
              Not(Contains("GP-008")));
  EXPECT_THAT(Ids(advise("aten::mm", Detail("[[512,141],[141,2048]]", "[[141,1],[2048,1]]", half))),
              Contains("GP-008"));
  EXPECT_THAT(Ids(advise("aten::addmm", Detail("[[30524],[4096,512],[512,30524]]",
                                               "[[1],[512,1],[1,512]]", "\"float\""))),
              Not(Contains("GP-008")))
      << "four elements of 32 bits are 16 bytes";
  EXPECT_THAT(Ids(advise("aten::cudnn_convolution",
                         Detail("[[32,3,224,224],[64,3,7,7]]", "[[1,1,1,1],[1,1,1,1]]", half))),
              Not(Contains("GP-008")))
      << "three colours";
  EXPECT_THAT(Ids(advise("aten::cudnn_convolution",
                         Detail("[[32,30,56,56],[64,30,3,3]]", "[[1,1,1,1],[1,1,1,1]]", half))),
              Contains("GP-008"));
  EXPECT_THAT(Ids(advise("aten::addmm", "not JSON")), Not(Contains("GP-008")));
}

TEST(DetailRules, SmallMessages) {
  const auto advise = [](const std::string& detail) {
    Trace trace = FiveSteps([](LoopMaker& loop) {
      loop.Kernel(kProduct, 500);
      for (int i = 0; i < 10; ++i) loop.Kernel(kCollective, 20);
    });
    Process& process = trace.processes[0];
    process.strings[kDetail] = detail;
    for (Track& track : process.tracks)
      for (size_t i = 0; i < track.kernel.rows(); ++i) track.kernel.detail.push_back(kDetail);
    return Advise(trace);
  };
  const results::Advice advice =
      advise("{\"Collective name\":\"allreduce\",\"dtype\":\"BFloat16\",\"In msg nelems\":32768}");
  const results::Finding* finding = Find(advice, "CO-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding),
              HasSubstr("10 a step collectives have less than 256 KiB, 64.0 KiB"));
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 100e3, 5e3) << "half of it";
  EXPECT_THAT(Ids(advise("{\"dtype\":\"Float\",\"In msg nelems\":65536}")),
              Not(Contains("CO-004")));
  EXPECT_THAT(Ids(advise("{\"In msg nelems\":32768}")), Not(Contains("CO-004"))) << "of what type?";
}

TEST(DetailRules, CollectivesOfTheHost) {
  const auto make = [](int64_t us) {
    return Advise(FiveSteps([=](LoopMaker& loop) {
      loop.Kernel(kProduct, 1000);
      loop.Op("gloo:all_reduce", us);
    }));
  };
  const results::Advice advice = make(500);
  ASSERT_NE(Find(advice, "CO-007"), nullptr);
  EXPECT_THAT(WordsOf(*Find(advice, "CO-007")), HasSubstr("the longest are gloo:all_reduce"));
  EXPECT_THAT(Ids(make(20)), Not(Contains("CO-007")));
  // DataParallel drives several devices.
  const auto parallel = [](uint32_t device) {
    LoopMaker loop;
    for (int i = 0; i < 5; ++i) {
      loop.BeginStep();
      loop.Open("DataParallel.forward");
      loop.Kernel(kProduct, 1000);
      loop.Close();
      loop.Synchronize();
    }
    loop.builder().Stream(device, 2, 9).Kernel(loop.builder().Signature("k", 1, 32), 0, 10 * kUs);
    return loop.Build();
  };
  const results::Advice two = Advise(parallel(1));
  ASSERT_NE(Find(two, "CO-007"), nullptr);
  EXPECT_THAT(WordsOf(*Find(two, "CO-007")),
              HasSubstr("1.00 a step: DataParallel.forward, on 2 GPUs"));
  EXPECT_THAT(Ids(Advise(parallel(0))), Not(Contains("CO-007"))) << "one device";
  // One process with a device is no DataParallel, and DDP is another operation.
  EXPECT_THAT(Ids(Advise(FiveSteps([](LoopMaker& loop) {
                loop.Op("DistributedDataParallel.forward", 500);
                loop.Kernel(kProduct, 1000);
              }))),
              Not(Contains("CO-007")));
}

// Two ranks of one machine. The second one has other work, and enters its collectives with it.
Trace TwoRanks(int64_t first_us, int64_t second_us) {
  Trace both;
  for (const int32_t pid : {5, 6}) {
    const int64_t us = pid == 5 ? first_us : second_us, most = std::max(first_us, second_us);
    LoopMaker loop;
    for (int i = 0; i < 8; ++i) {
      loop.BeginStep();
      loop.Kernel(kProduct, us);
      // The collective ends when both are in it.
      loop.Kernel(kCollective, most - us + 50);
      loop.Synchronize();
    }
    Trace made = loop.Build();
    made.processes[0].pid = pid;
    if (both.processes.empty()) {
      both = std::move(made);
    } else {
      both.processes.push_back(std::move(made.processes[0]));
    }
  }
  return both;
}

TEST(RankRules, RanksWithDifferentWork) {
  const results::Advice advice = Advise(TwoRanks(1000, 1400));
  const results::Finding* finding = Find(advice, "CO-008");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding),
              HasSubstr("train.py (pid 6, device 0) computes for 1.40 ms a step"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("train.py (pid 5, device 0) computes for 1.00 ms"));
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 200e3, 5e3);
  EXPECT_THAT(Ids(Advise(TwoRanks(1000, 1080))), Not(Contains("CO-008")));
}

TEST(RankRules, ARankThatIsLate) {
  PassOptions options;
  options.thresholds["CO-008.min_spread"] = 1;
  const results::Advice advice = Advise(TwoRanks(1000, 1400), options);
  const results::Finding* finding = Find(advice, "CO-002");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding),
              HasSubstr("train.py (pid 6, device 0) is the last of 2 ranks in 8 of the 8"));
  EXPECT_NEAR(static_cast<double>(finding->gain().high_ns()), 400e3, 60e3);
  EXPECT_THAT(Ids(Advise(TwoRanks(1000, 1040), options)), Not(Contains("CO-002")));
  EXPECT_THAT(Ids(Advise(TwoRanks(1000, 1400))), Not(Contains("CO-002"))) << "its work explains it";
}

}  // namespace
}  // namespace gpuprof::analysis::test
