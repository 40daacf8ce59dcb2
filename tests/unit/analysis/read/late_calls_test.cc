// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is read of calls whose ids are enough.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "tests/unit/analysis/read/trace_maker.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;
constexpr uint64_t kWall = 1'700'000'000 * kSecond;
constexpr uint32_t kLaunch = 211;

// Calls at these milliseconds, a block each.
void MakeCalls(const std::string& directory, const std::string& function) {
  TraceMaker maker(directory, 100, kWall / 1000, proto::ClockKind::kMonotonic);
  maker.Meta(maker.Identity(1));
  maker.Clock(0, 0, kWall);
  maker.Clock(10 * kSecond, 10 * kSecond, kWall + 10 * kSecond);
  maker.Strings({{2, function}});
  proto::Functions functions;
  functions.add_function(kLaunch);
  functions.add_name(2);
  maker.Table(ChunkKind::kFunctions, 28, functions, 1);
  uint64_t id = 40;
  for (const uint64_t ms : {0, 1500, 3000, 3500}) {
    const uint64_t end = kWall + kSecond + ms * kMs;
    maker.Row(ChunkKind::kApi, 1, {end, 2000, kLaunch, ++id, 0});
    maker.Row(ChunkKind::kApi, 1, {end + 5000, 1000, kLaunch, ++id, 7});
    maker.Flush();
  }
  maker.End();
  maker.Close();
}

std::shared_ptr<const Trace> MustOpen(const std::string& path, const TableSet& tables) {
  OpenOptions options;
  options.tables = tables;
  std::shared_ptr<const Trace> trace;
  const Error error = Open(path, options, &trace);
  EXPECT_FALSE(error) << error.message;
  EXPECT_THAT(trace->faults, IsEmpty());
  return trace;
}

template <typename T>
std::vector<T> Values(const Column<T>& column) {
  return {column.begin(), column.end()};
}

TEST(LateCalls, AreWholeWhereIdsAreEnough) {
  TemporaryDirectory directory;
  MakeCalls(directory.path(), "cudaLaunchKernel_v7000");
  const auto trace = MustOpen(directory.path(), TableSet::CallIds());
  const Track& track = trace->processes.at(0).tracks.at(0);
  EXPECT_THAT(Values(track.api.correlation), ElementsAre(41, 42, 43, 44, 45, 46, 47, 48));
  EXPECT_EQ(track.api.rows(), 8u);
  EXPECT_TRUE(track.api.has_ids_alone());
  EXPECT_TRUE(track.api.end_ns.empty());
  EXPECT_TRUE(track.api.weight.empty());
  EXPECT_THAT(Values(track.late_api.correlation), ElementsAre(45, 46, 47, 48));
  EXPECT_THAT(Values(track.late_api.result), ElementsAre(0, 7, 0, 7));
  EXPECT_THAT(Values(track.late_api.duration_ns), ElementsAre(2000, 1000, 2000, 1000));
  const auto whole = MustOpen(directory.path(), {ChunkKind::kApi});
  const ApiTable& calls = whole->processes.at(0).tracks.at(0).api;
  EXPECT_FALSE(calls.has_ids_alone());
  EXPECT_EQ(Values(calls.correlation), Values(track.api.correlation));
  for (size_t row = 0; row < 4; ++row)
    EXPECT_EQ(track.late_api.end_ns[row], calls.end_ns[row + 4]) << row;
  EXPECT_EQ(whole->processes.at(0).tracks.at(0).late_api.rows(), 0u);
}

TEST(LateCalls, AllAreWholeWhereStreamsAreCaptured) {
  TemporaryDirectory directory;
  MakeCalls(directory.path(), "cudaStreamBeginCapture_ptsz_v10000");
  const auto trace = MustOpen(directory.path(), TableSet::CallIds());
  const Track& track = trace->processes.at(0).tracks.at(0);
  EXPECT_FALSE(track.api.has_ids_alone());
  EXPECT_EQ(track.api.end_ns.size(), 8u);
}

TEST(LateCalls, TablesWithIdsAloneDoNotContainWholeCalls) {
  const TableSet whole = {ChunkKind::kApi};
  EXPECT_TRUE(whole.Contains(TableSet::CallIds()));
  EXPECT_TRUE(TableSet::All().Contains(TableSet::CallIds()));
  EXPECT_FALSE(TableSet::CallIds().Contains(whole));
  EXPECT_FALSE(TableSet::CallIds().Has(ChunkKind::kApi));
  EXPECT_TRUE((whole | TableSet::CallIds()).Has(ChunkKind::kApi));
}

}  // namespace
}  // namespace gpuprof::analysis
