// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What each pass says about the hand-made traces, compared with the kept text, JSON and CSV in
// expected/<pass>/. After a change that is meant, GPUPROF_UPDATE_GOLDEN=1 writes them anew; the
// difference is then reviewed like code.

#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analysis/analysis.h"
#include "analysis/base/display_width.h"
#include "analysis/model/table_extents.h"
#include "analysis/passes/registry.h"
#include "tests/golden/golden_traces.h"

namespace gpuprof::analysis::test {
namespace {

constexpr int kWidth = 120;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void Compare(const std::string& actual, const std::filesystem::path& path) {
  if (std::getenv("GPUPROF_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path << ": run once with GPUPROF_UPDATE_GOLDEN=1";
  EXPECT_EQ(actual, ReadFile(path)) << path;
}

// What the pass sees of the trace if only its own tables were read.
Trace OnlyTablesOf(std::string_view pass, Trace trace) {
  trace.tables = TablesOf(pass);
  for (std::vector<Process>* processes : {&trace.processes, &trace.samplers}) {
    for (Process& process : *processes) {
      for (Track& track : process.tracks) DropTables(trace.tables, &track);
    }
  }
  return trace;
}

class PassesGolden : public testing::TestWithParam<GoldenTrace> {};

TEST_P(PassesGolden, SaysWhatIsExpected) {
  const GoldenTrace& golden = GetParam();
  const std::filesystem::path expected = GPUPROF_GOLDEN_EXPECTED;
  PassOptions options;
  options.symbolize = false;
  for (const PassInfo& pass : Passes()) {
    std::unique_ptr<google::protobuf::Message> result;
    const Trace trace = OnlyTablesOf(pass.name, golden.trace);
    const Error error = analysis::Run(pass.name, trace, options, &result);
    ASSERT_FALSE(error) << error.message;
    const std::filesystem::path base = expected / std::string(pass.name) / golden.name;
    Compare(Render(*result, Format::kText, options, kWidth), base.string() + ".txt");
    // One trace in every form: the others would only repeat it.
    constexpr std::string_view kOfGpus[] = {
        "kernels",  "ranges",         "memcpy",        "api",
        "sync",     "streams",        "device_memory", "counters",
        "overhead", "unified_memory", "roofline",      "op_profile"};
    const bool of_gpus =
        std::find(std::begin(kOfGpus), std::end(kOfGpus), pass.name) != std::end(kOfGpus);
    const bool of_graphs = pass.name == "graphs", of_files = pass.name == "files";
    const bool of_python = pass.name == "python";
    if (golden.name != (of_graphs   ? "graphs"
                        : of_files  ? "server"
                        : of_python ? "service"
                        : of_gpus   ? "gpu"
                                    : "training"))
      continue;
    Compare(Render(*result, Format::kCsv, options, 0), base.string() + ".csv");
    if (pass.name == "heap") continue;  // long, and the CSV holds the same figures
    Compare(Render(*result, Format::kJson, options, 0), base.string() + ".json");
  }
}

// Returns the widest line among those of tables: they are indented, and have two gaps or more.
std::string WidestTableLine(const std::string& text) {
  std::istringstream lines(text);
  std::string widest;
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(' ');
    if (first < 2 || first == std::string::npos) continue;
    const size_t gap = line.find("  ", first);
    const size_t next = line.find_first_not_of(' ', std::min(gap, line.size()));
    const bool is_table = next != std::string::npos && line.find("  ", next) != std::string::npos;
    if (is_table && DisplayWidth(line) > DisplayWidth(widest)) widest = line;
  }
  return widest;
}

TEST_P(PassesGolden, TablesFitByThemselves) {
  PassOptions options;
  options.symbolize = false;
  size_t tables = 0;
  for (const PassInfo& pass : Passes()) {
    std::unique_ptr<google::protobuf::Message> result;
    ASSERT_FALSE(analysis::Run(pass.name, GetParam().trace, options, &result)) << pass.name;
    const std::string widest = WidestTableLine(Render(*result, Format::kText, options, 0));
    EXPECT_LE(DisplayWidth(widest), size_t{kWidth}) << pass.name << "\n" << widest;
    if (!widest.empty()) ++tables;
  }
  EXPECT_GT(tables, 3u);
}

INSTANTIATE_TEST_SUITE_P(Traces, PassesGolden, testing::ValuesIn(MakeGoldenTraces()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace gpuprof::analysis::test
