// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// files on a trace whose figures can be told by hand.

#include <gtest/gtest.h>

#include <cerrno>

#include "analysis/passes/passes.h"
#include "proto/results/files.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

// Two processes read the same file; their ids of its path differ.
struct Readers {
  Readers() : main(5), worker(6, 5) {
    const uint64_t weights = main.Id("/data/model/weights.bin");
    main.Thread(5, "python3")
        .FileRead(weights, 3'000'000, 0, 3 * kMs)
        .FileRead(weights, 1'000'000, 10 * kMs, 11 * kMs)
        .FileRead(main.Id("/data/train/7.jpg"), 0, 11 * kMs, 11 * kMs + kUs)
        .FileRead(0, -EIO, 20 * kMs, 25 * kMs);
    main.Thread(7, "loader").FileRead(weights, 500'000, 5 * kMs, 7 * kMs, 9);
    worker.Id("/elsewhere");
    worker.Thread(6, "worker")
        .FileRead(worker.Id("/data/model/weights.bin"), 100'000, 30 * kMs, 31 * kMs)
        .FileRead(worker.Id("/data/test/7.jpg"), 10, 32 * kMs, 32 * kMs);
    for (ProcessBuilder* builder : {&main, &worker}) {
      CaptureWindow window;
      window.end_ns = 100 * kMs;
      builder->process().captures.push_back(window);
    }
  }
  results::Files By(const std::string& by, PassOptions options = {}) {
    options.by = by;
    return RunPass<results::Files>("files", MakeTrace({&main, &worker}), options);
  }
  ProcessBuilder main, worker;
};

TEST(FilesPass, ByPath) {
  const results::Files result = Readers().By("");
  EXPECT_EQ(result.by(), "path");
  EXPECT_EQ(result.count(), 7u);
  EXPECT_EQ(result.total_bytes(), 4'600'010u);
  EXPECT_EQ(result.total_ns(), 12 * kMs + kUs);
  EXPECT_EQ(result.failed_count(), 1u);
  EXPECT_EQ(result.file_count(), 4u);
  EXPECT_EQ(result.thread_count(), 3u);
  EXPECT_EQ(result.captured_ns(), 100 * kMs);
  ASSERT_EQ(result.files_size(), 4);

  const results::FileReads& weights = result.files(0);
  EXPECT_EQ(weights.name(), "/data/model/weights.bin");
  EXPECT_EQ(weights.short_name(), "model/weights.bin");
  EXPECT_EQ(weights.count(), 4u);
  EXPECT_EQ(weights.total_bytes(), 4'600'000u);
  EXPECT_EQ(weights.total_ns(), 7 * kMs);
  EXPECT_EQ(weights.mean_ns(), 1'750'000);
  EXPECT_EQ(weights.median_ns(), kMs);
  EXPECT_EQ(weights.max_ns(), 3 * kMs);
  EXPECT_DOUBLE_EQ(weights.captured_ratio(), 0.07);
  EXPECT_NEAR(weights.mb_per_s(), 4.6 / 0.007, 1e-9);
  EXPECT_EQ(weights.thread_count(), 3u);
  EXPECT_EQ(weights.file_count(), 1u);
  EXPECT_FALSE(weights.has_pid());

  EXPECT_EQ(result.files(1).name(), "unknown file");
  EXPECT_EQ(result.files(1).failed_count(), 1u);
  EXPECT_EQ(result.files(1).total_bytes(), 0u);
  EXPECT_FALSE(result.files(1).has_mb_per_s());
  EXPECT_EQ(result.files(2).short_name(), "train/7.jpg");
  EXPECT_FALSE(result.files(2).has_mb_per_s()) << "nothing was read";
  EXPECT_EQ(result.files(3).short_name(), "test/7.jpg");
  EXPECT_FALSE(result.files(3).has_mb_per_s()) << "in no time";
}

TEST(FilesPass, ByThread) {
  const results::Files result = Readers().By("thread");
  ASSERT_EQ(result.files_size(), 3);
  EXPECT_EQ(result.files(0).name(), "python3");
  EXPECT_EQ(result.files(0).tid(), 5);
  EXPECT_EQ(result.files(0).count(), 4u);
  EXPECT_EQ(result.files(0).file_count(), 3u);
  EXPECT_EQ(result.files(0).total_ns(), 9 * kMs + kUs);
  EXPECT_EQ(result.files(1).name(), "loader");
  EXPECT_EQ(result.files(1).pid(), 5);
  EXPECT_EQ(result.files(1).total_bytes(), 500'000u);
  EXPECT_EQ(result.files(2).pid(), 6);
  EXPECT_EQ(result.files(2).file_count(), 2u);
  EXPECT_EQ(result.file_count(), 4u);
}

TEST(FilesPass, PathsThatEndAlikeAreCalledByMore) {
  ProcessBuilder builder(5);
  builder.Thread(5)
      .FileRead(builder.Id("/a/data/x"), 1, 0, kMs)
      .FileRead(builder.Id("/home/b/data/x"), 1, kMs, 2 * kMs)
      .FileRead(builder.Id("/x"), 1, 2 * kMs, 3 * kMs);
  const auto result = RunPass<results::Files>("files", MakeTrace({&builder}));
  ASSERT_EQ(result.files_size(), 3);
  EXPECT_EQ(result.files(0).short_name(), "/a/data/x");
  EXPECT_EQ(result.files(1).short_name(), "b/data/x");
  EXPECT_EQ(result.files(2).short_name(), "/x");
}

// A read is in the window in which it begins; the captured time is that of the window.
TEST(FilesPass, OfAWindow) {
  PassOptions options;
  options.window = {5 * kMs, 15 * kMs};
  const results::Files result = Readers().By("thread", options);
  EXPECT_EQ(result.count(), 3u);
  EXPECT_EQ(result.total_bytes(), 1'500'000u);
  EXPECT_EQ(result.captured_ns(), 10 * kMs);
}

TEST(FilesPass, SaysThatTheSourceWasOff) {
  ProcessBuilder builder(5);
  builder.Thread(5).Op("aten::mm", 0, kMs);
  builder.process().sources = proto::kDefaultSources;
  const auto result = RunPass<results::Files>("files", MakeTrace({&builder}));
  ASSERT_EQ(result.meta().skipped_size(), 1);
  EXPECT_EQ(result.meta().skipped(0).name(), "files");
  EXPECT_EQ(result.meta().skipped(0).fix(), "--trace files");
  builder.process().sources |= proto::kSourceFiles;
  EXPECT_EQ(RunPass<results::Files>("files", MakeTrace({&builder})).meta().skipped_size(), 0);
}

}  // namespace
}  // namespace gpuprof::analysis::test
