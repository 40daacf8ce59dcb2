// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Short names of kernels: those of real traces as tests/golden/kernel_names.txt has them, and
// hostile ones.

#include "analysis/symbols/kernel_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/base/display_width.h"
#include "analysis/symbols/mangled_names.h"
#include "analysis/symbols/short_names.h"
#include "tests/unit/analysis/symbols/golden_names.h"

namespace gpuprof::analysis {
namespace {

using test::GoldenNames;
using test::Pair;
using test::ReadGolden;
using test::ShortNamesOf;

void WriteGolden(const GoldenNames& golden) {
  std::ofstream file(GPUPROF_GOLDEN_KERNEL_NAMES);
  size_t pair = 0;
  for (const std::string& line : golden.lines) {
    if (line != "\t") {
      file << line << "\n";
      continue;
    }
    const auto& [trace, number] = golden.places[pair++];
    const Pair& names = golden.traces[trace].second[number];
    file << names.short_name << "\t" << names.full_name << "\n";
  }
}

TEST(KernelNames, OfRealTracesAreAsReviewed) {
  GoldenNames golden = ReadGolden();
  ASSERT_GT(golden.places.size(), 400U);
  for (auto& [trace, pairs] : golden.traces) {
    const auto short_names = ShortNamesOf(pairs);
    for (Pair& pair : pairs) {
      const std::string& found = short_names.at(Demangle(pair.full_name.c_str()));
      if (std::getenv("GPUPROF_UPDATE_GOLDEN") != nullptr) pair.short_name = found;
      EXPECT_EQ(found, pair.short_name) << pair.full_name;
    }
  }
  if (std::getenv("GPUPROF_UPDATE_GOLDEN") != nullptr) WriteGolden(golden);
}

TEST(KernelNames, OfOneTraceAreDifferentAndNarrow) {
  for (const auto& [trace, pairs] : ReadGolden().traces) {
    std::set<std::string> seen;
    for (const auto& [full_name, short_name] : ShortNamesOf(pairs)) {
      EXPECT_TRUE(seen.insert(short_name).second) << trace << ": " << short_name;
      EXPECT_FALSE(short_name.empty()) << full_name;
      // Names of one identifier that no rule knows stay whole.
      if (short_name != full_name) {
        EXPECT_LE(DisplayWidth(short_name), kMostShortColumns + 25) << full_name;
      }
    }
  }
}

TEST(KernelNames, SayWhatTypeLayoutAndShape) {
  EXPECT_EQ(ShortKernelName("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_"
                            "warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"),
            "gemm bf16 tn 128x128x64");
  EXPECT_EQ(ShortKernelName("VectorAdd(float const*, float const*, float*, int)"), "VectorAdd");
  EXPECT_EQ(ShortKernelName("void mine::step<float, (mine::Mode)2, false>(float*)"),
            "step<f32, 2, false>");
  EXPECT_EQ(ShortKernelName("triton_poi_fused_add_mul_0"), "triton_poi_fused_add_mul_0");
  EXPECT_EQ(ShortKernelName("graph 2"), "graph 2");
}

TEST(KernelNames, ThatWouldBeAlikeSayWhatTheyDifferIn) {
  const std::string first = "void f<a<1>, b>(int)", second = "void f<a<2>, b>(int)";
  const auto names = ShortKernelNames({first, second});
  EXPECT_EQ(names.at(first), "f<a, b> 1");
  EXPECT_EQ(names.at(second), "f<a, b> 2");
}

// What they differ in has no short word: a number made of the name, the same in every result.
TEST(KernelNames, ThatCannotSayItHaveANumber) {
  const std::string first = "void one::f(int)", second = "void f(int, int)";
  const std::string third = "void f(long)";
  const auto two = ShortKernelNames({first, second});
  EXPECT_EQ(two.at(first).rfind("f #", 0), 0U) << two.at(first);
  EXPECT_NE(two.at(first), two.at(second));
  EXPECT_EQ(ShortKernelNames({first, second, third}).at(first), two.at(first));
}

TEST(KernelNames, LoseTheNumbersOfCompilersAlone) {
  EXPECT_EQ(NumberlessKernelName("triton_poi_fused_add_mul_3"), "triton_poi_fused_add_mul_#");
  EXPECT_EQ(NumberlessKernelName("loop_add_fusion_12"), "loop_add_fusion_#");
  EXPECT_EQ(NumberlessKernelName("all-reduce.12"), "all-reduce.#");
  EXPECT_EQ(NumberlessKernelName("void f<float, 2ul, 32>(Accessor<float, 1ul>)"),
            "void f<float, #, 32>(Accessor<float, #>)");
  // Other tiles are other kernels.
  for (const char* name : {"ampere_sgemm_128x64_nn", "volta_sgemm_32", "void g<4, 128>(int)", ""})
    EXPECT_EQ(NumberlessKernelName(name), name);
}

TEST(KernelNames, HostileOnesAreReadInLinearTime) {
  // Megabytes: quadratic work would take hours.
  for (const char* piece : {"a<", "f<g<(x),", "int, ", "(", "{", "&(", "a::", "x_", "const ",
                            "a<b>::", "unsigned ", "operator", "[", ">", "1x"}) {
    std::string name = "void f<";
    while (name.size() < 2'000'000) name += piece;
    EXPECT_LE(DisplayWidth(ShortKernelName(name)), kMostShortColumns) << piece;
    EXPECT_FALSE(ShortKernelNames({name, name + "x"}).empty());
  }
}

TEST(KernelNames, CutOffInTheirMiddleAreStillTold) {
  EXPECT_EQ(ShortKernelName("void at::native::vectorized_elementwise_kernel<4, "
                            "at::native::FillFunctor<floa"),
            "fill vec4");
  EXPECT_EQ(ShortKernelName(""), "");
}

}  // namespace
}  // namespace gpuprof::analysis
