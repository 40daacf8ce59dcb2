// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Records of functions that streams run on the host become rows of their streams, whether a call
// launched the function or a graph.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/tracer/cupti/activity_records.h"

namespace gpuprof::tracer::cupti {
namespace {

using Expected = std::vector<std::pair<uint32_t, codec::Row>>;

constexpr uint64_t kTime = 1'750'000'000'000'000'000;

Bytes Launched(uint32_t stream, uint32_t correlation, uint64_t start, uint64_t end,
               size_t size = 48) {
  return Bytes(Activity::kHostLaunch, size)
      .U32(host_launch::kStream, stream)
      .U32(host_launch::kContext, 1)
      .U32(host_launch::kDevice, 2)
      .U32(host_launch::kCorrelation, correlation)
      .U32(host_launch::kThread, 77)
      .U64(host_launch::kStart, start)
      .U64(host_launch::kEnd, end);
}

Bytes Node(uint32_t stream, uint32_t correlation, uint64_t start, uint64_t end) {
  return Bytes(Activity::kGraphHostNode, 56)
      .U32(graph_host_node::kStream, stream)
      .U32(graph_host_node::kContext, 1)
      .U32(graph_host_node::kDevice, 2)
      .U32(graph_host_node::kCorrelation, correlation)
      .U32(graph_host_node::kGraph, 5)
      .U64(graph_host_node::kGraphNode, uint64_t{5} << 32 | 3)
      .U32(graph_host_node::kThread, 78)
      .U64(graph_host_node::kStart, start)
      .U64(graph_host_node::kEnd, end);
}

using HostFunctionRecords = ActivityRecords;

TEST_F(HostFunctionRecords, AreRowsOfTheStreamThatWaits) {
  Give({Launched(7, 11, kTime, kTime + 500), Node(13, 12, kTime + 100, kTime + 900),
        Launched(7, 13, kTime + 600, kTime + 700)});
  EXPECT_EQ(Rows(proto::ChunkKind::kHostFunction),
            (Expected{{101, {kTime + 500, 500, 77, 11, 0, 0}},
                      {101, {kTime + 700, 100, 77, 13, 0, 0}},
                      {102, {kTime + 900, 800, 78, 12, 5, uint64_t{5} << 32 | 3}}}));
  EXPECT_EQ(sorter_.counters().unknown, 0u);
}

TEST_F(HostFunctionRecords, WithoutTimesTheyAreCounted) {
  Give({Launched(7, 11, 0, 0), Launched(7, 12, kTime, 0), Node(7, 13, 0, 0)});
  EXPECT_TRUE(Rows(proto::ChunkKind::kHostFunction).empty());
  EXPECT_EQ(sorter_.counters().without_times, 2u);
  EXPECT_EQ(sorter_.counters().unfinished, 1u);
}

TEST_F(HostFunctionRecords, OfAnEarlierCaptureAreLeftOut) {
  sorter_.SetEarliest(kTime);
  Give({Launched(7, 11, kTime - 1, kTime + 500), Launched(7, 12, kTime, kTime + 500)});
  EXPECT_EQ(Rows(proto::ChunkKind::kHostFunction),
            (Expected{{101, {kTime + 500, 500, 77, 12, 0, 0}}}));
  EXPECT_EQ(sorter_.counters().unfinished, 1u);
}

TEST_F(HostFunctionRecords, ThatAreCutShortHaveNoTimes) {
  Give({Launched(7, 11, kTime, kTime + 500, 32)});
  EXPECT_TRUE(Rows(proto::ChunkKind::kHostFunction).empty());
  EXPECT_EQ(sorter_.counters().without_times, 1u);
}

// A function and the call that launched it are kept together, or left out together.
TEST_F(HostFunctionRecords, FollowTheLimitOfRows) {
  sorter_.budget().SetLimit(RateBudget::kCalls, 1000);
  constexpr uint32_t kCount = 4000;
  for (uint32_t round = 0; round < 8; ++round) {
    std::vector<Bytes> records;
    for (uint32_t i = 0; i < kCount; ++i) {
      const uint32_t correlation = round * kCount + i + 1;
      const uint64_t start = kTime + uint64_t{correlation} * 100'000;
      records.push_back(Launched(7, correlation, start, start + 10));
    }
    Give(records);
    if (sorter_.budget().WantsChange()) sorter_.budget().Adapt();
  }
  uint64_t rows = 0, stand_for = 0;
  for (const auto& buffer : sorter_.buffers()) {
    if (buffer->kind() != proto::ChunkKind::kHostFunction) continue;
    rows += buffer->count();
    stand_for += uint64_t{buffer->count()} * buffer->sampled_one_in();
  }
  EXPECT_LT(rows, 8u * kCount / 2);
  EXPECT_NEAR(static_cast<double>(stand_for), 8.0 * kCount, 0.2 * 8 * kCount);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
