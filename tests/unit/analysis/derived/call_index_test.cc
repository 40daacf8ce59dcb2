// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls by correlation, and the iteration over a device's work.

#include "analysis/derived/call_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/derived/device_work.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::ProcessBuilder;

TEST(CallIndex, FindsTheRuntimeCallOfADriverCallInIt) {
  ProcessBuilder builder(1);
  builder.Thread(1).Call("cuLaunchKernel", 12, 18, 7).Call("cudaLaunchKernel", 10, 20, 7);
  builder.Thread(1).Call("cudaFree", 30, 31);
  builder.Thread(2).Call("cudaLaunchKernel", 40, 50, 3);
  const Process process = builder.Build();
  const CallIndex calls(process);
  ASSERT_TRUE(calls.Find(7).has_value());
  EXPECT_EQ(calls.Find(7)->start_ns, 10);
  EXPECT_EQ(calls.Find(7)->end_ns, 20);
  EXPECT_EQ(calls.Find(7)->row, 1u);
  EXPECT_EQ(calls.Find(3)->track, 1u);
  EXPECT_FALSE(calls.Find(0).has_value()) << "a call without an id";
  EXPECT_FALSE(calls.Find(5).has_value());
  EXPECT_FALSE(calls.Find(8).has_value());
}

TEST(CallIndex, OfNoCallsFindsNothing) {
  const Process process = ProcessBuilder(1).Build();
  EXPECT_FALSE(CallIndex(process).Find(1).has_value());
}

TEST(CallIndex, FindsEachIdOfAnyGapsAndNoOther) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    ProcessBuilder builder(1);
    std::vector<uint32_t> ids;
    uint32_t id = random() % 2 == 0 ? 1 : 0xfffff000;
    for (int i = 0; i < 40 && id < 0xffffff00; ++i, id += 1 + random() % 5) {
      ids.push_back(id);
      builder.Thread(1 + static_cast<int32_t>(random() % 3)).Call("call", i * 10, i * 10 + 5, id);
    }
    const Process process = builder.Build();
    const CallIndex calls(process);
    size_t next = 0;
    for (uint32_t wanted = ids.front() - 1; wanted <= ids.back() + 1; ++wanted) {
      const bool is_there = next < ids.size() && ids[next] == wanted;
      ASSERT_EQ(calls.Find(wanted).has_value(), is_there) << wanted;
      if (!is_there) continue;
      EXPECT_EQ(calls.Find(wanted)->start_ns, static_cast<int64_t>(next++) * 10);
    }
  }
}

// A far id keeps the ids out of a table. Then some segments are searched where they lie, others in
// a list: what is found is the same.
void FindInAnyOrder(bool has_far_id) {
  std::mt19937 random(1);
  for (const uint32_t disorder : {0u, 1u, 40u, 4000u}) {
    ProcessBuilder builder(1);
    if (has_far_id) builder.Thread(3).Call("call", 0, 1, 4'000'000'000);
    std::map<uint32_t, int64_t> earliest;
    uint32_t id = 1;
    for (int row = 0; row < 30'000; ++row) {
      // Two threads. One of them calls in some order, the other in another one for a while.
      const int32_t thread = random() % 3 == 0 ? 2 : 1;
      if (random() % 4 != 0) ++id;
      const uint32_t here = id + (row > 20'000 && thread == 2 && disorder != 0
                                      ? static_cast<uint32_t>(random() % (disorder + 1))
                                      : 0);
      const int64_t end = row * 10, start = end - static_cast<int64_t>(random() % 9);
      builder.Thread(thread).Call("call", start, end, here);
      const auto [at, is_new] = earliest.try_emplace(here, start);
      if (!is_new) at->second = std::min(at->second, start);
    }
    const Process process = builder.Build();
    const CallIndex calls(process);
    for (uint32_t wanted = 0; wanted < id + 4100; ++wanted) {
      const auto known = earliest.find(wanted);
      ASSERT_EQ(calls.Find(wanted).has_value(), known != earliest.end()) << wanted;
      if (known == earliest.end()) continue;
      const Call call = *calls.Find(wanted);
      ASSERT_EQ(call.start_ns, known->second) << wanted;
      const ApiTable& table = process.tracks[call.track].api;
      EXPECT_EQ(table.correlation[call.row], wanted);
      EXPECT_EQ(table.end_ns[call.row], call.end_ns);
    }
  }
}

TEST(CallIndex, FindsTheEarliestCallOfEachIdInAnyOrder) { FindInAnyOrder(false); }
TEST(CallIndex, FindsTheEarliestCallOfFarIdsInAnyOrder) { FindInAnyOrder(true); }

TEST(CallIndex, OfManyCallsWithOneIdTheFirstOfTheEarliestCounts) {
  ProcessBuilder builder(1);
  for (int64_t i = 0; i < 50; ++i) builder.Thread(1).Call("call", 100 - i / 2, 200 + i, 7);
  builder.Thread(2).Call("call", 76, 90, 7);
  builder.Thread(2).Call("call", 10, 95, 4'000'000'000);
  const Process process = builder.Build();
  const CallIndex calls(process);
  EXPECT_EQ(calls.Find(7)->start_ns, 76);
  EXPECT_EQ(calls.Find(7)->track, 0u);
  EXPECT_EQ(calls.Find(7)->row, 48u);
  EXPECT_EQ(calls.Find(4'000'000'000)->end_ns, 95);
}

TEST(DeviceWork, IsVisitedKindByKind) {
  ProcessBuilder builder(1);
  builder.Stream(0, 1, 7)
      .WholeGraph(3, 40, 50, 14)
      .Set(64, 30, 31, 13)
      .Copy(1, 2, 3, 64, 20, 25, 12)
      .Weight(5)
      .Kernel(1, 10, 12, 11);
  const Process process = builder.Build();
  std::vector<std::string> seen;
  ForEachDeviceWork(process, [&](const Track& track, const DeviceWork& work) {
    seen.push_back(std::to_string(static_cast<int>(work.kind)) + " " +
                   std::to_string(track.stream) + " " + std::to_string(work.span.start) + "-" +
                   std::to_string(work.span.end) + " " + std::to_string(work.correlation) + " x" +
                   std::to_string(work.weight));
  });
  EXPECT_THAT(seen, testing::ElementsAre("0 7 10-12 11 x5", "1 7 20-25 12 x1", "2 7 30-31 13 x1",
                                         "3 7 40-50 14 x1"));
}

}  // namespace
}  // namespace gpuprof::analysis
