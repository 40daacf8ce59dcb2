// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// python, and stacks of samples, on traces whose figures can be told by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analysis/passes/passes.h"
#include "analysis/passes/registry.h"
#include "proto/results/overview.pb.h"
#include "proto/results/python.pb.h"
#include "proto/results/stacks.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/sampled_process.h"

namespace gpuprof::analysis::test {
namespace {

using testing::HasSubstr;

constexpr char kMain[] = "/srv/app.py(30): main";
constexpr char kHandle[] = "/srv/app.py(10): Server.handle";
constexpr char kHandleLater[] = "/srv/app.py(14): Server.handle";
constexpr char kDumps[] = "/usr/lib/python3.11/json/__init__.py(231): dumps";
constexpr char kWait[] = "/usr/lib/python3.11/threading.py(327): Condition.wait";

// Two threads of a server, and one that waits for work.
struct Server : SampledProcess {
  explicit Server(int32_t pid = 10) : SampledProcess(pid) {
    const int32_t worker = pid + 5;
    builder.Thread(worker, "worker");
    builder.Thread(pid + 6, "idle");
    Sample(pid, 0, 10, {kMain, kHandle});
    Sample(worker, 0, 10, {kHandle}, kGil, pid);
    Sample(pid, 10, 20, {kMain, kHandleLater, kDumps});
    Sample(worker, 10, 20, {kHandle, kWait}, kWaits);
    Sample(pid, 20, 30, {kMain, kHandleLater});
    Sample(worker, 20, 30, {kHandle, kDumps}, kRuns);
    Sample(pid, 30, 40, {kMain, kHandleLater});
    Sample(pid + 6, 0, 40, {kWait}, kWaits);
  }
};

results::Python Python(const Trace& trace, const std::string& by = "", PassOptions options = {}) {
  options.by = by;
  return RunPass<results::Python>("python", trace, options);
}

std::map<std::string, results::FunctionTime> ByName(const results::Python& result) {
  std::map<std::string, results::FunctionTime> rows;
  for (const results::FunctionTime& row : result.functions()) {
    EXPECT_TRUE(rows.emplace(row.name(), row).second) << row.name();
  }
  return rows;
}

TEST(PythonPass, SumsAFunctionOverItsLines) {
  const Server server;
  const results::Python result = Python(MakeTrace({&server.builder}));
  EXPECT_EQ(result.by(), "function");
  EXPECT_EQ(result.cpu_ns(), 50 * kMs);
  EXPECT_EQ(result.gil_ns(), 10 * kMs);
  EXPECT_EQ(result.wait_ns(), 50 * kMs);
  EXPECT_EQ(result.count(), 8u);
  EXPECT_EQ(result.thread_count(), 3u);
  EXPECT_EQ(result.process_count(), 1u);
  auto rows = ByName(result);
  ASSERT_EQ(rows.size(), 4u);

  const results::FunctionTime& handle = rows["Server.handle"];
  EXPECT_EQ(handle.file(), "/srv/app.py");
  EXPECT_EQ(handle.line(), 14u);  // 20 of its 30 ms
  EXPECT_EQ(handle.place(), "/srv/app.py:14");
  EXPECT_EQ(handle.self_ns(), 30 * kMs);
  EXPECT_DOUBLE_EQ(handle.self_ratio(), 0.6);
  EXPECT_EQ(handle.total_ns(), 50 * kMs);
  EXPECT_EQ(handle.program_ns(), 50 * kMs);
  EXPECT_EQ(handle.gil_ns(), 10 * kMs);
  EXPECT_EQ(handle.wait_ns(), 0);
  EXPECT_EQ(handle.wait_total_ns(), 10 * kMs);
  EXPECT_EQ(handle.count(), 4u);
  EXPECT_EQ(handle.thread_count(), 2u);

  const results::FunctionTime& dumps = rows["dumps"];
  EXPECT_EQ(dumps.self_ns(), 20 * kMs);
  EXPECT_EQ(dumps.program_ns(), 0);  // its caller is charged
  EXPECT_EQ(rows["main"].self_ns(), 0);
  EXPECT_EQ(rows["main"].total_ns(), 40 * kMs);
  EXPECT_EQ(rows["Condition.wait"].wait_ns(), 50 * kMs);
  EXPECT_EQ(result.functions(0).name(), "Server.handle");
  EXPECT_EQ(result.functions(1).name(), "dumps");
}

TEST(PythonPass, CountsAFunctionThatCallsItselfOnce) {
  SampledProcess process(20);
  const std::string deep = "/srv/tree.py(7): walk", deeper = "/srv/tree.py(9): walk";
  process.Sample(20, 0, 10, {kMain, deep, deeper, deep});
  process.Sample(20, 10, 20, {kMain, deep});
  auto rows = ByName(Python(MakeTrace({&process.builder})));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows["walk"].self_ns(), 20 * kMs);
  EXPECT_EQ(rows["walk"].total_ns(), 20 * kMs);
  EXPECT_DOUBLE_EQ(rows["walk"].total_ratio(), 1);
}

TEST(PythonPass, TellsFunctionsOfOneNameApart) {
  SampledProcess process(20);
  process.Sample(20, 0, 10, {"/srv/a.py(1): run"});
  process.Sample(20, 10, 30, {"/srv/b.py(1): run"});
  const results::Python result = Python(MakeTrace({&process.builder}));
  ASSERT_EQ(result.functions_size(), 2);
  EXPECT_EQ(result.functions(0).file(), "/srv/b.py");
  EXPECT_EQ(result.functions(1).file(), "/srv/a.py");
}

TEST(PythonPass, ByLineModuleAndThread) {
  const Server server;
  const Trace trace = MakeTrace({&server.builder});
  const results::Python lines = Python(trace, "line");
  ASSERT_EQ(lines.functions_size(), 5);
  EXPECT_EQ(lines.functions(0).place(), "/srv/app.py:14");
  EXPECT_EQ(lines.functions(0).self_ns(), 20 * kMs);

  auto modules = ByName(Python(trace, "module"));
  ASSERT_EQ(modules.size(), 3u);
  EXPECT_EQ(modules["/srv/app.py"].self_ns(), 30 * kMs);
  EXPECT_EQ(modules["/srv/app.py"].total_ns(), 50 * kMs);
  EXPECT_EQ(modules["/srv/app.py"].line(), 0u);

  auto threads = ByName(Python(trace, "thread"));
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_EQ(threads["MainThread"].self_ns(), 40 * kMs);
  EXPECT_EQ(threads["MainThread"].tid(), 10);
  EXPECT_EQ(threads["MainThread"].place(), "Server.handle");
  EXPECT_EQ(threads["worker"].gil_ns(), 10 * kMs);
  EXPECT_EQ(threads["idle"].wait_ns(), 40 * kMs);
  EXPECT_EQ(threads["idle"].place(), "");
}

TEST(PythonPass, NamesWhoHadTheGil) {
  SampledProcess process(10);
  // Of 30 ms the holder was in one function for 10 ms, in another for 10 ms, and is not known then.
  process.Sample(10, 0, 10, {kMain, kHandle})
      .Sample(10, 10, 20, {kMain, kDumps})
      .Sample(15, 0, 30, {kHandle}, kGil, 10)
      .Sample(16, 0, 10, {kHandle}, kGil, 10)
      .Sample(17, 0, 10, {kHandle}, kGil);
  const results::Python result = Python(MakeTrace({&process.builder}));
  EXPECT_EQ(result.gil_ns(), 50 * kMs);
  ASSERT_EQ(result.holders_size(), 3);
  int64_t sum = 0;
  std::map<std::string, results::GilHolder> rows;
  for (const results::GilHolder& row : result.holders()) {
    rows[row.name()] = row;
    sum += row.total_ns();
  }
  EXPECT_EQ(sum, result.gil_ns());
  EXPECT_EQ(rows["Server.handle"].total_ns(), 20 * kMs);
  EXPECT_EQ(rows["Server.handle"].waiter_count(), 2u);
  EXPECT_EQ(rows["Server.handle"].thread_count(), 1u);
  EXPECT_EQ(rows["dumps"].total_ns(), 10 * kMs);
  EXPECT_EQ(rows[""].total_ns(), 20 * kMs);
}

TEST(PythonPass, AddsProcessesUpAndTakesOne) {
  const Server first(10), second(50);
  const Trace trace = MakeTrace({&first.builder, &second.builder});
  const results::Python both = Python(trace);
  EXPECT_EQ(both.cpu_ns(), 100 * kMs);
  EXPECT_EQ(both.process_count(), 2u);
  EXPECT_EQ(both.thread_count(), 6u);
  EXPECT_EQ(ByName(both)["Server.handle"].self_ns(), 60 * kMs);
  EXPECT_EQ(ByName(both)["Server.handle"].thread_count(), 4u);
  PassOptions one;
  one.pid = 50;
  EXPECT_EQ(Python(trace, "", one).cpu_ns(), 50 * kMs);
  EXPECT_EQ(Python(trace, "thread").functions_size(), 6);
}

TEST(PythonPass, CutsSamplesToTheWindow) {
  const Server server;
  const Trace trace = MakeTrace({&server.builder});
  int64_t cpu = 0, waits = 0;
  const std::vector<int64_t> edges = {0, 7 * kMs, 25 * kMs, 26 * kMs, 40 * kMs};
  for (size_t i = 1; i < edges.size(); ++i) {
    PassOptions part;
    part.window = {edges[i - 1], edges[i]};
    const results::Python result = Python(trace, "", part);
    cpu += result.cpu_ns();
    waits += result.wait_ns();
    // This is the sample of 40 ms.
    EXPECT_TRUE(i != 3 || result.wait_ns() == kMs) << result.wait_ns();
  }
  EXPECT_EQ(cpu, 50 * kMs);
  EXPECT_EQ(waits, 50 * kMs);
}

TEST(PythonPass, SaysWhyThereIsNothing) {
  ProcessBuilder off(10);
  off.Thread(10);
  const auto text = [](const ProcessBuilder& builder) {
    return Render(Python(MakeTrace({&builder})), Format::kText, {}, 100);
  };
  EXPECT_THAT(text(off), HasSubstr("not recorded. To record them: --trace samples"));
  off.process().sources = proto::kSourceSamples;
  off.process().executable = "/usr/bin/server";
  EXPECT_THAT(text(off), HasSubstr("none of these processes ran Python"));
  off.process().executable = "/usr/bin/python3.11";
  EXPECT_THAT(text(off), HasSubstr("although Python ran"));
}

TEST(PythonPass, TakesAnyName) {
  SampledProcess process(20);
  process.Sample(20, 0, 10, {""});
  process.Sample(20, 10, 20, {"no line"});
  process.Sample(20, 20, 30, {"/a(99999999999): b/x.py(3): f<locals>.\n\x1b[31m\xff"});
  process.Sample(20, 30, 40, {"<string>(1): <module>"});
  process.Sample(20, 40, 50, {});
  const results::Python result = Python(MakeTrace({&process.builder}));
  EXPECT_EQ(result.cpu_ns(), 50 * kMs);
  auto rows = ByName(result);
  EXPECT_EQ(rows["no line"].self_ns(), 10 * kMs);
  EXPECT_EQ(rows["[no stack]"].self_ns(), 10 * kMs);
  EXPECT_EQ(rows["<module>"].place(), "<string>:1");
  for (const Format format : {Format::kText, Format::kJson, Format::kCsv}) {
    const std::string text = Render(result, format, {}, 100);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
  }
}

TEST(PythonPass, CountsNativeSamplesWherePythonHasNone) {
  SampledProcess process(20);
  process.builder.process().executable = "/srv/solver";
  const uint32_t native = process.builder.Stack({0x401000, 0x402000});
  constexpr uint32_t kNative = proto::kSampleRuns | proto::kSampleNative;
  process.Sample(20, 0, 30, {kMain});
  process.builder.Thread(21)
      .StackSample(20, native, 10 * kMs, 20 * kMs, kNative)  // within the sample of Python
      .StackSample(20, native, 30 * kMs, 40 * kMs, kNative)
      .StackSample(25, native, 10 * kMs, 20 * kMs, kNative);
  const Trace trace = MakeTrace({&process.builder});
  const results::Python result = Python(trace);
  EXPECT_EQ(result.cpu_ns(), 50 * kMs);
  EXPECT_EQ(result.thread_count(), 2u);
  auto rows = ByName(result);
  EXPECT_EQ(rows["main"].self_ns(), 30 * kMs);
  EXPECT_EQ(rows["0x401000"].self_ns(), 20 * kMs);
  PassOptions options;
  options.by = "native";
  EXPECT_EQ(RunPass<results::Stacks>("stacks", trace, options).total(), 30u * kMs);
}

TEST(StacksOfSamples, AddUpToThePass) {
  const Server server;
  const Trace trace = MakeTrace({&server.builder});
  const auto fold = [&](const std::string& by) {
    PassOptions options;
    options.by = by;
    return RunPass<results::Stacks>("stacks", trace, options);
  };
  const results::Python all = Python(trace);
  EXPECT_EQ(fold("cpu").total(), static_cast<uint64_t>(all.cpu_ns()));
  EXPECT_EQ(fold("gil").total(), static_cast<uint64_t>(all.gil_ns()));
  EXPECT_EQ(fold("samples").total(),
            static_cast<uint64_t>(all.cpu_ns() + all.gil_ns() + all.wait_ns()));
  EXPECT_EQ(Render(fold("cpu"), Format::kText, {}, 80),
            "train.py;Server.handle (/srv/app.py);dumps (/usr/lib/python3.11/json/__init__.py) "
            "10000000\n"
            "train.py;main (/srv/app.py);Server.handle (/srv/app.py) 30000000\n"
            "train.py;main (/srv/app.py);Server.handle (/srv/app.py);dumps "
            "(/usr/lib/python3.11/json/__init__.py) 10000000\n");
  EXPECT_EQ(Render(fold("gil"), Format::kText, {}, 80),
            "train.py;Server.handle (/srv/app.py);[gil] Server.handle (/srv/app.py) 10000000\n");
}

TEST(OverviewOfSamples, ShowsTheFunctions) {
  const Server server;
  const Trace trace = MakeTrace({&server.builder});
  const auto result = RunPass<results::Overview>("overview", trace);
  ASSERT_TRUE(result.has_functions());
  ASSERT_EQ(result.functions().functions_size(), 1);
  EXPECT_EQ(result.functions().functions(0).name(), "Server.handle");
  EXPECT_EQ(result.functions().functions(0).program_ns(), 50 * kMs);
  EXPECT_DOUBLE_EQ(result.functions().functions(0).program_ratio(), 1);
  const std::string text = Render(result, Format::kText, {}, 100);
  EXPECT_THAT(text, HasSubstr("Functions by processor time"));
  EXPECT_THAT(text, testing::Not(HasSubstr("PyTorch did not run here")));

  ProcessBuilder without(10);
  without.Thread(10);
  EXPECT_FALSE(RunPass<results::Overview>("overview", MakeTrace({&without})).has_functions());
}

}  // namespace
}  // namespace gpuprof::analysis::test
