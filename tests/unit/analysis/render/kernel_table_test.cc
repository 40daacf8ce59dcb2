// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The text of the pass `kernels`, with the names of real traces.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/display_width.h"
#include "proto/results/kernels.pb.h"
#include "tests/unit/analysis/symbols/golden_names.h"

namespace gpuprof::analysis {
namespace {

using test::Pair;
using test::ReadGolden;
using test::ShortNamesOf;

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
    row->set_occupancy_limit(results::OCCUPANCY_LIMIT_SHARED_MEMORY);
    row->set_tensor_cores(results::TENSOR_CORE_USE_UNKNOWN);
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

}  // namespace
}  // namespace gpuprof::analysis
