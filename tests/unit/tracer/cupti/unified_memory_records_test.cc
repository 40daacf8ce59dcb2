// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Counters of unified memory become rows of a track of no device, in either length of record.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/tracer/cupti/activity_records.h"

namespace gpuprof::tracer::cupti {
namespace {

using UnifiedMemoryRecords = ActivityRecords;
using Expected = std::vector<std::pair<uint32_t, codec::Row>>;

constexpr uint64_t kTime = 1'750'000'000'000'000'000;
constexpr uint64_t kAddress = 0x7f0000200000;

Bytes Counter(uint32_t counter, uint64_t value, uint64_t start, uint64_t end, uint32_t flags,
              size_t size = 104) {
  return Bytes(Activity::kUnifiedMemoryCounter, size)
      .U32(um::kCounter, counter)
      .U64(um::kValue, value)
      .U64(um::kStart, start)
      .U64(um::kEnd, end)
      .U64(um::kAddress, kAddress)
      .U32(um::kSource, 1)
      .U32(um::kDestination, 2)
      .U32(48, 0xffffffff)
      .U32(um::kFlags, flags);
}

TEST_F(UnifiedMemoryRecords, AreOnATrackOfNoDevice) {
  Give({Counter(1, 65536, kTime, kTime + 500, 2), Counter(4, 3, kTime + 10, kTime + 600, 1, 64)});
  EXPECT_EQ(Rows(proto::ChunkKind::kUnifiedMemory),
            (Expected{{101, {kTime + 500, 500, 1 | 2 << 8, 65536, kAddress, 1, 2}},
                      {101, {kTime + 600, 590, 4 | 1 << 8, 3, kAddress, 1, 2}}}));
}

TEST_F(UnifiedMemoryRecords, OfMomentsTheEndIsNotLookedAt) {
  Give({Counter(um::kCpuPageFault, 0x401000, kTime, 7, 0),
        Counter(um::kThrashing, 4096, kTime + 1, 0, 0),
        Counter(um::kRemoteMap, 4096, kTime + 2, kTime + 99, 2)});
  EXPECT_EQ(Rows(proto::ChunkKind::kUnifiedMemory),
            (Expected{{101, {kTime, 0, 3, 0x401000, kAddress, 1, 2}},
                      {101, {kTime + 1, 0, 5, 4096, kAddress, 1, 2}},
                      {101, {kTime + 2, 0, 7 | 2 << 8, 4096, kAddress, 1, 2}}}));
  EXPECT_EQ(sorter_.counters().unfinished, 0u);
}

TEST_F(UnifiedMemoryRecords, WithoutTimesTheyAreCounted) {
  Give({Counter(1, 65536, 0, 0, 0), Counter(2, 65536, kTime, 0, 0),
        Counter(um::kThrashing, 4096, 0, 0, 0)});
  EXPECT_TRUE(Rows(proto::ChunkKind::kUnifiedMemory).empty());
  EXPECT_EQ(sorter_.counters().without_times, 2u);
  EXPECT_EQ(sorter_.counters().unfinished, 1u);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
