// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a page does with a recording of too many rows: refuse, or leave tables out and say so. And
// what it would take to have all rows.

#include <gtest/gtest.h>

#include <memory>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "analysis/passes/page_need.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

Trace WithRows(std::initializer_list<std::pair<ChunkKind, uint64_t>> rows) {
  Trace trace;
  trace.tables = TableSet::All();
  Process& process = trace.processes.emplace_back();
  process.pid = 7;
  for (const auto& [kind, count] : rows) {
    KindTotals& totals = process.kinds.emplace_back();
    totals.kind = static_cast<uint16_t>(kind);
    totals.rows = count;
  }
  return trace;
}

constexpr uint64_t kMillion = 1'000'000;

TEST(PageLimits, OverviewKeepsWhatIsFewAndLeavesTheLargestOut) {
  EXPECT_TRUE(TableSet().Contains(
      TooLargeTables("overview", WithRows({{ChunkKind::kOp, 20 * kMillion}}), {})));
  const Trace many = WithRows({{ChunkKind::kOp, 60 * kMillion}, {ChunkKind::kWait, 5 * kMillion}});
  const TableSet left_out = TooLargeTables("overview", many, {});
  EXPECT_TRUE(left_out.Has(ChunkKind::kOp));
  EXPECT_FALSE(left_out.Has(ChunkKind::kWait));
  EXPECT_EQ("", TooManyRows("overview", many, {}));
  PassOptions options;
  options.left_out = left_out;
  EXPECT_FALSE(TablesOf("overview", options).Has(ChunkKind::kOp));
  EXPECT_TRUE(TablesOf("overview", options).Has(ChunkKind::kWait));
}

TEST(PageLimits, SummedWorkIsNotLeftOut) {
  const Trace work =
      WithRows({{ChunkKind::kKernel, 90 * kMillion}, {ChunkKind::kApi, 90 * kMillion}});
  EXPECT_TRUE(TableSet().Contains(TooLargeTables("overview", work, {})));
  EXPECT_TRUE(TableSet().Contains(TooLargeTables("kernels", work, {})));
  // Without sums the calls are rows.
  const Trace calls =
      WithRows({{ChunkKind::kKernel, 9 * kMillion}, {ChunkKind::kApi, 90 * kMillion}});
  EXPECT_TRUE(TooLargeTables("overview", calls, {}).Has(ChunkKind::kApi));
}

TEST(PageLimits, OtherPassesAreRefused) {
  const Trace many = WithRows({{ChunkKind::kOp, 60 * kMillion}});
  EXPECT_TRUE(TableSet().Contains(TooLargeTables("ops", many, {})));
  EXPECT_NE(std::string::npos, TooManyRows("ops", many, {}).find("gpuprof stats ops"));
  EXPECT_EQ("", TooManyRows("files", many, {}));
}

TEST(PageLimits, TheNeedIsOfTheRowsThatAPassReads) {
  const Trace many = WithRows({{ChunkKind::kOp, 60 * kMillion}, {ChunkKind::kFileRead, kMillion}});
  const PageNeed ops = NeedOf(many, "ops", {}), files = NeedOf(many, "files", {});
  EXPECT_EQ(60 * kMillion, ops.rows);
  EXPECT_EQ(kMillion, files.rows);
  EXPECT_LT(30 * ops.rows, ops.memory_bytes);
  EXPECT_LT(ops.memory_bytes, 1000 * ops.rows);
  EXPECT_LT(files.memory_bytes, ops.memory_bytes);
  EXPECT_LT(files.seconds, ops.seconds);
  EXPECT_FALSE(ops.has_less);
  EXPECT_TRUE(NeedOf(many, "overview", {}).has_less);
}

TEST(PageLimits, APartIsReadByItself) {
  const Trace many = WithRows({{ChunkKind::kKernel, 60 * kMillion}, {ChunkKind::kOp, kMillion}});
  PassOptions options;
  options.window = {10, 20};
  EXPECT_EQ(0u, NeedOf(many, "kernels", options).bytes_at_once);
  EXPECT_LT(0u, NeedOf(many, "kernels", options).memory_bytes);
  options = {};
  options.pid = 7;
  EXPECT_LT(60 * kMillion, NeedOf(many, "kernels", options).bytes_at_once);
}

TEST(PageLimits, SummedWorkTakesNothing) {
  const Trace work =
      WithRows({{ChunkKind::kKernel, 90 * kMillion}, {ChunkKind::kApi, 90 * kMillion}});
  EXPECT_EQ(0u, NeedOf(work, "overview", {}).rows);
  // The command prints medians of kernels, so it reads every row.
  EXPECT_LE(90 * kMillion, NeedOf(work, "kernels", {}).rows);
}

TEST(PageLimits, TheCommandHasTheSamePart) {
  PassOptions options;
  options.by = "name";
  options.pid = 7;
  options.window = {10, 20};
  options.devices = {0, 3};
  EXPECT_EQ("gpuprof stats ops --by name --pid 7 --window 10ns-20ns --device 0,3",
            CommandOf("ops", options));
  options = {};
  options.steps = {4, 4};
  EXPECT_EQ("gpuprof stats idle --steps 4", CommandOf("idle", options));
}

TEST(PageLimits, TheResultSaysWhatIsNotInTheFigures) {
  const Trace many = WithRows({{ChunkKind::kOp, 60 * kMillion}});
  PassOptions options;
  options.left_out = TooLargeTables("overview", many, options);
  std::unique_ptr<google::protobuf::Message> result;
  ASSERT_FALSE(analysis::Run("overview", many, options, &result));
  const auto& notes = static_cast<const results::Overview&>(*result).meta().notes();
  ASSERT_LE(1, notes.size());
  EXPECT_EQ(
      "60,000,000 rows of these tables are not in the figures, as they are too many for a page: "
      "op. This command reads all of them: gpuprof stats overview",
      notes[0]);
}

}  // namespace
}  // namespace gpuprof::analysis
