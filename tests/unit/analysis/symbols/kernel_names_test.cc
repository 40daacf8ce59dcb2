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

#include "analysis/analysis.h"
#include "analysis/base/display_width.h"
#include "analysis/symbols/module_symbols.h"
#include "analysis/symbols/short_names.h"
#include "proto/results/kernels.pb.h"

namespace gpuprof::analysis {
namespace {

struct Pair {
  std::string short_name, full_name;
};

struct GoldenNames {
  std::vector<std::string> lines;  // those of a pair are a tab
  std::vector<std::pair<std::string, std::vector<Pair>>> traces;
  std::vector<std::pair<size_t, size_t>> places;  // of each line of a pair: trace, number
};

GoldenNames ReadGolden() {
  GoldenNames golden;
  std::ifstream file(GPUPROF_GOLDEN_KERNEL_NAMES);
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    if (line.rfind("## ", 0) == 0) golden.traces.emplace_back(line.substr(3), std::vector<Pair>());
    if (tab == std::string::npos) {
      golden.lines.push_back(line);
      continue;
    }
    golden.lines.emplace_back("\t");
    std::vector<Pair>& pairs = golden.traces.back().second;
    golden.places.emplace_back(golden.traces.size() - 1, pairs.size());
    pairs.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return golden;
}

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

// The short names of one trace, as its table has them.
std::map<std::string, std::string> ShortNamesOf(const std::vector<Pair>& pairs) {
  std::set<std::string> names;
  for (const Pair& pair : pairs) names.insert(Demangle(pair.full_name.c_str()));
  return ShortKernelNames(names);
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

// The table of kernels as the pass makes it, with figures as wide as they get.
results::Kernels TableOf(const std::vector<Pair>& pairs) {
  results::Kernels kernels;
  kernels.set_by("name");
  for (const auto& [full_name, short_name] : ShortNamesOf(pairs)) {
    results::Kernel* row = kernels.add_kernels();
    row->set_name(full_name);
    row->set_short_name(short_name);
    row->set_count(123'456'789);
    row->set_device(static_cast<uint32_t>(kernels.kernels_size() % 8));
    row->set_pid(kernels.kernels_size());
    row->set_total_ns(123'400'000'000);
    row->set_grid("1048576,65535,65535");
    row->set_block("1024,1,1");
    row->set_occupancy_ratio(0.123);
    row->set_occupancy_limit("shared memory");
    row->set_tensor_cores("unknown");
  }
  return kernels;
}

TEST(KernelTables, FitTheTerminalAndTellRowsApart) {
  for (const auto& [trace, pairs] : ReadGolden().traces) {
    const results::Kernels kernels = TableOf(pairs);
    PassOptions options;
    options.limit = 0;
    for (const int width : {0, 60, 80, 100, 120, 160, 300}) {
      std::istringstream text(Render(kernels, Format::kText, options, width));
      std::string line;
      std::getline(text, line);  // the heading
      std::set<std::string> names;
      int rows = -1;  // without the headers
      while (std::getline(text, line) && line.rfind("  (no room for", 0) != 0 && !line.empty()) {
        EXPECT_LE(DisplayWidth(line), static_cast<size_t>(width == 0 ? 160 : std::min(width, 160)))
            << line;
        EXPECT_TRUE(names.insert(line.substr(0, line.find("  ", 2))).second) << line;
        ++rows;
      }
      EXPECT_EQ(rows, kernels.kernels_size()) << trace << " at " << width;
    }
  }
}

TEST(KernelTables, AreWideWhenAsked) {
  const Pair longest = {"", "void f<" + std::string(300, 'x') + ">(int)"};
  PassOptions options;
  EXPECT_EQ(Render(TableOf({longest}), Format::kText, options, 0).find(longest.full_name),
            std::string::npos);
  options.wide = true;
  EXPECT_NE(Render(TableOf({longest}), Format::kText, options, 0).find(longest.full_name),
            std::string::npos);
  const std::string json = Render(TableOf({longest}), Format::kJson, {}, 0);
  EXPECT_NE(json.find("\"name\": \"" + longest.full_name), std::string::npos);
  EXPECT_NE(json.find("\"short_name\": \"f<"), std::string::npos);
  const std::string csv = Render(TableOf({longest}), Format::kCsv, {}, 0);
  EXPECT_EQ(csv.rfind("name,short_name,", 0), 0U) << csv;
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
