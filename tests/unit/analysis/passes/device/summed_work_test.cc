// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The overview of work that was summed block by block, beside that of the same work row by row.

#include "analysis/passes/device/summed_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/results/advice.pb.h"
#include "proto/results/overview.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Trace> OpenWith(const std::string& path, uint64_t sums_above_rows) {
  OpenOptions options;
  options.sums_above_rows = sums_above_rows;
  std::shared_ptr<const Trace> trace;
  const Error error = Open(path, options, &trace);
  EXPECT_FALSE(error) << error.message;
  return trace;
}

class SummedWork : public testing::TestWithParam<const char*> {};

TEST_P(SummedWork, GivesTheFiguresOfTheRows) {
  const std::string path = std::string(GPUPROF_GOLDEN_TRACES) + "/" + GetParam();
  const auto rows = OpenWith(path, 0), sums = OpenWith(path, 1);
  ASSERT_FALSE(rows->has_sums);
  ASSERT_TRUE(sums->has_sums);
  const auto exact = RunPass<results::Overview>("overview", *rows).gpu();
  const auto summed = RunPass<results::Overview>("overview", *sums).gpu();
  ASSERT_GT(exact.kernel_count() + exact.whole_graph_count(), 0u);
  EXPECT_EQ(summed.kernel_count(), exact.kernel_count());
  EXPECT_EQ(summed.copy_count(), exact.copy_count());
  EXPECT_EQ(summed.copy_bytes(), exact.copy_bytes());
  EXPECT_EQ(summed.whole_graph_count(), exact.whole_graph_count());
  // Sums are converted by block, and rows one by one.
  const auto near = [](int64_t x, int64_t y) { EXPECT_NEAR(x, y, 10 + 1e-6 * y); };
  near(summed.kernel_ns(), exact.kernel_ns());
  near(summed.copy_ns(), exact.copy_ns());
  near(summed.window_ns(), exact.window_ns());
  EXPECT_LE(summed.busy_ns(), exact.busy_ns() + 10);
  EXPECT_GE(summed.busy_high_ns() + 10, exact.busy_ns());
  ASSERT_EQ(summed.top_kernels_size(), exact.top_kernels_size());
  for (int i = 0; i < exact.top_kernels_size(); ++i) {
    EXPECT_EQ(summed.top_kernels(i).name(), exact.top_kernels(i).name());
    EXPECT_EQ(summed.top_kernels(i).count(), exact.top_kernels(i).count());
    near(summed.top_kernels(i).total_ns(), exact.top_kernels(i).total_ns());
    near(summed.top_kernels(i).min_ns(), exact.top_kernels(i).min_ns());
    near(summed.top_kernels(i).max_ns(), exact.top_kernels(i).max_ns());
    EXPECT_FALSE(summed.top_kernels(i).has_median_ns());
    EXPECT_TRUE(exact.top_kernels(i).has_median_ns());
  }
  EXPECT_FALSE(summed.has_idle_ns());
}

INSTANTIATE_TEST_SUITE_P(Golden, SummedWork,
                         testing::Values("v1/gpu.gpt", "v1/graphs.gpt",
                                         "h200/pytorch/language_model"));

TEST(SummedWorkText, SaysWhatIsLeftOut) {
  const auto sums = OpenWith(std::string(GPUPROF_GOLDEN_TRACES) + "/v1/gpu.gpt", 1);
  const auto overview = RunPass<results::Overview>("overview", *sums);
  EXPECT_FALSE(overview.has_verdict());
  std::string notes;
  for (const std::string& note : overview.meta().notes()) notes += note + "\n";
  EXPECT_THAT(notes, HasSubstr("summed block by block"));
  const std::string text = Render(overview, Format::kText, PassOptions(), 100);
  EXPECT_THAT(text, HasSubstr("Kernels by time"));
  // A rule about GPUs does not advise to record what was recorded.
  const auto advice = RunPass<results::Advice>("advise", *sums);
  for (const results::UncheckedRule& rule : advice.not_checked())
    EXPECT_NE(rule.fix(), "--trace cuda") << rule.id();
}

WorkSummary Work(std::vector<BusyStretch> stretches) {
  WorkSummary work;
  work.stretches = std::move(stretches);
  return work;
}

TEST(SummedWorkBounds, StreamsThatOverlapLeaveTheBusyTimeBetweenTwoFigures) {
  ProcessBuilder builder(5);
  builder.Capture(0, 1000);
  // Alone until 200, together until 500, and alone again.
  builder.Stream(0, 1, 7);
  builder.process().tracks.back().work = Work({{0, 200, 150}, {300, 500, 120}, {600, 700, 60}});
  builder.Stream(0, 1, 8);
  builder.process().tracks.back().work = Work({{250, 400, 100}});
  Trace trace = MakeTrace({&builder});
  trace.has_sums = true;
  const auto gpu = RunPass<results::Overview>("overview", trace).gpu();
  EXPECT_EQ(gpu.window_ns(), 700);
  EXPECT_EQ(gpu.busy_ns(), 150 + 120 + 60);
  EXPECT_EQ(gpu.busy_high_ns(), 150 + 220 + 60);
}

}  // namespace
}  // namespace gpuprof::analysis::test
