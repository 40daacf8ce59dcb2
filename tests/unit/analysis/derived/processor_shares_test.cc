// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Time that samples call running is divided by the kernel's account of the thread.

#include "analysis/derived/processor_shares.h"

#include <gtest/gtest.h>

#include "analysis/derived/host_samples.h"
#include "tests/unit/analysis/sampled_process.h"

namespace gpuprof::analysis::test {
namespace {

using Piece = ProcessorShares::Piece;

constexpr char kMain[] = "/srv/app.py(3): main";

TEST(ProcessorShares, DivideRunningTimeByTheAccount) {
  SampledProcess process(10);
  process.builder.Thread(10)
      .Sample(0, 0)
      .Sample(1000 * kMs, 250 * kMs)
      .Sample(2000 * kMs, 1250 * kMs);
  process.Sample(10, 0, 500, {kMain}).Sample(10, 500, 1000, {kMain}, kWaits);
  process.Sample(10, 1000, 2000, {kMain});
  const HostTimes times = HostSamples(process.builder.process()).times();
  // 250 of 500 ms in the first second, all of the next one.
  EXPECT_EQ(times[HostState::kRuns], 1250 * kMs);
  EXPECT_EQ(times[HostState::kReady], 250 * kMs);
  EXPECT_EQ(times[HostState::kWaits], 500 * kMs);
}

TEST(ProcessorShares, NativeSamplesKeepTheirTime) {
  SampledProcess process(10);
  process.builder.Thread(10).Sample(0, 0).Sample(1000 * kMs, 300 * kMs);
  ProcessorShares shares(process.builder.process());
  shares.Note(10, {0, 200 * kMs}, Piece::kRunsNative);
  shares.Note(10, {200 * kMs, 600 * kMs}, Piece::kRuns);
  shares.Note(10, {600 * kMs, 1000 * kMs}, Piece::kRests);
  EXPECT_DOUBLE_EQ(shares.ShareOf(10, {0, 200 * kMs}, Piece::kRunsNative), 1);
  EXPECT_DOUBLE_EQ(shares.ShareOf(10, {200 * kMs, 600 * kMs}, Piece::kRuns), 0.25);
}

TEST(ProcessorShares, NoShareIsMoreThanAll) {
  SampledProcess process(10);
  process.builder.Thread(10).Sample(0, 0).Sample(1000 * kMs, 900 * kMs);
  process.Sample(10, 0, 300, {kMain}).Sample(10, 300, 1000, {kMain}, kWaits);
  EXPECT_EQ(HostSamples(process.builder.process()).times()[HostState::kRuns], 300 * kMs);
}

TEST(ProcessorShares, AWindowHasItsPartOfTheAccount) {
  SampledProcess process(10);
  process.builder.Thread(10).Sample(0, 0).Sample(1000 * kMs, 500 * kMs);
  process.Sample(10, 200, 400, {kMain});
  EXPECT_EQ(HostSamples(process.builder.process()).times()[HostState::kRuns], 100 * kMs);
}

TEST(ProcessorShares, WithoutTwoReadingsAllCounts) {
  SampledProcess process(10);
  process.builder.Thread(10).Sample(0, 0);
  process.Sample(10, 0, 300, {kMain});
  EXPECT_EQ(HostSamples(process.builder.process()).times()[HostState::kRuns], 300 * kMs);
}

TEST(ProcessorShares, OutsideOfTheReadingsTheWholeCounts) {
  SampledProcess process(10);
  process.builder.Thread(10).Sample(1000 * kMs, 0).Sample(2000 * kMs, 500 * kMs);
  ProcessorShares shares(process.builder.process());
  shares.Note(10, {1000 * kMs, 2000 * kMs}, Piece::kRuns);
  EXPECT_DOUBLE_EQ(shares.ShareOf(10, {0, 100 * kMs}, Piece::kRuns), 0.5);
  EXPECT_DOUBLE_EQ(shares.ShareOf(10, {2100 * kMs, 2200 * kMs}, Piece::kRuns), 0.5);
}

}  // namespace
}  // namespace gpuprof::analysis::test
