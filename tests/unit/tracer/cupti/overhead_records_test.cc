// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What CUDA and CUPTI spent on themselves comes to the track of its thread, or of its device.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/unit/tracer/cupti/activity_records.h"

namespace gpuprof::tracer::cupti {
namespace {

using OverheadRecords = ActivityRecords;
using Expected = std::vector<std::pair<uint32_t, codec::Row>>;

constexpr uint64_t kTime = 1'750'000'000'000'000'000;
constexpr uint32_t kLazyLoading = 5 << 16, kBufferFlush = 1 << 16;

Bytes Overhead(uint32_t kind, uint32_t object, uint32_t first, uint32_t second, uint64_t start,
               uint64_t end, size_t size = 56) {
  return Bytes(Activity::kOverhead, size)
      .U32(overhead::kKind, kind)
      .U32(overhead::kObjectKind, object)
      .U32(overhead::kObject, first)
      .U32(overhead::kThread, second)
      .U64(overhead::kStart, start)
      .U64(overhead::kEnd, end)
      .U32(overhead::kCorrelation, 9);
}

Bytes Jit(uint32_t entry, uint32_t operation, uint64_t start, uint64_t end, size_t size) {
  return Bytes(Activity::kJit, size)
      .U32(jit::kEntry, entry)
      .U32(jit::kOperation, operation)
      .U32(jit::kDevice, 3)
      .U64(jit::kStart, start)
      .U64(jit::kEnd, end)
      .U32(jit::kCorrelation, 11)
      .U64(jit::kCacheBytes, 4096)
      .U32(jit::kThread, 77);
}

TEST_F(OverheadRecords, OfAThreadAreOnItsTrack) {
  Give({Overhead(kLazyLoading, kObjectThread, 1000, 77, kTime, kTime + 500)});
  EXPECT_EQ(Rows(proto::ChunkKind::kOverhead), (Expected{{77, {kTime + 500, 500, 6, 9, 0}}}));
}

TEST_F(OverheadRecords, OfAnIdThatWasGivenAgainAreOnTheTrackOfTheirTime) {
  tracks_.GiveAgain(77, kTime + 1000);
  Give({Overhead(kLazyLoading, kObjectThread, 1000, 77, kTime + 1000, kTime + 1500),
        Overhead(kLazyLoading, kObjectThread, 1000, 77, kTime, kTime + 500)});
  Give({Overhead(kLazyLoading, kObjectThread, 1000, 77, kTime + 2000, kTime + 2500)});
  EXPECT_EQ(Rows(proto::ChunkKind::kOverhead),
            (Expected{{Tracks::kAgain + 77, {kTime + 1500, 500, 6, 9, 0}},
                      {Tracks::kAgain + 77, {kTime + 2500, 500, 6, 9, 0}},
                      {77, {kTime + 500, 500, 6, 9, 0}}}));
}

TEST_F(OverheadRecords, OfTheProcessAndOfDevicesAreOnTracksOfTheirOwn) {
  Give({Overhead(kBufferFlush, 1, 1000, 0, kTime, kTime + 50),
        Overhead(kBufferFlush, kObjectStream, 2, 5, kTime, kTime + 60),
        Overhead(kBufferFlush, kObjectDevice, 2, 0, kTime + 100, kTime + 170)});
  EXPECT_EQ(Rows(proto::ChunkKind::kOverhead), (Expected{{101, {kTime + 50, 50, 2, 9, 0}},
                                                         {102, {kTime + 60, 60, 2, 9, 0}},
                                                         {102, {kTime + 170, 70, 2, 9, 0}}}));
}

TEST_F(OverheadRecords, OfNoDeviceIsNotOnADevicesTrack) {
  Give({Overhead(kBufferFlush, kObjectDevice, 2, 0, kTime, kTime + 60),
        Overhead(kBufferFlush, 1, 1000, 0, kTime, kTime + 50)});
  EXPECT_EQ(Rows(proto::ChunkKind::kOverhead),
            (Expected{{101, {kTime + 60, 60, 2, 9, 0}}, {102, {kTime + 50, 50, 2, 9, 0}}}));
}

TEST_F(OverheadRecords, ThreadsThatEndedLongAgoKeepNoBuffers) {
  constexpr uint32_t kMany = 3000;
  constexpr uint64_t kSecond = 1'000'000'000;
  tracks_.EndAtOnce();
  size_t most = 0;
  for (uint32_t i = 1; i <= kMany; ++i) {
    const uint64_t time = kTime + i * kSecond / 10;
    Give({Overhead(kLazyLoading, kObjectThread, 1000, 200 + i, time, time + 500)});
    most = std::max(most, sorter_.buffers().size());
    if (i % 100 != 0) continue;
    size_t rows = 0;
    for (const auto& buffer : sorter_.buffers()) {
      if (buffer->count() == 0) continue;
      rows += buffer->count();
      const codec::TempFolder folder;
      codec::TraceWriter writer;
      ASSERT_TRUE(writer.Create((folder / "p1-1.gpt").c_str(), codec::TestHeader()));
      ASSERT_TRUE(writer.WriteEvents(buffer->Encode(), 1, 0));
    }
    EXPECT_EQ(rows, 100u) << "none is lost with its thread";
    sorter_.RowsAreWritten();
  }
  EXPECT_LE(most, 1200u);
  EXPECT_LE(sorter_.buffers().size(), 1100u);
}

// Its leak or its freeing twice is found by the address sanitizer.
TEST_F(OverheadRecords, WhatTheyLeadToIsFreedByItsOwner) {
  void* data = std::malloc(12);
  const Bytes full = Overhead(kCommandBufferFull, kObjectThread, 1000, 77, kTime, kTime + 5)
                         .U64(overhead::kData, reinterpret_cast<uint64_t>(data));
  Give({full, Overhead(kBufferFlush, kObjectThread, 1000, 77, kTime, kTime + 5)
                  .U64(overhead::kData, 0xdead)});
  sorter_.OwnData(true);
  Give({full});
  EXPECT_EQ(Rows(proto::ChunkKind::kOverhead).size(), 3u);
}

TEST_F(OverheadRecords, OldLibrariesTellLess) {
  Give({Overhead(kLazyLoading, kObjectThread, 1000, 77, kTime, kTime + 500, 40),
        Jit(1, 3, kTime, kTime + 9'000'000, 64)});
  EXPECT_EQ(Rows(proto::ChunkKind::kOverhead),
            (Expected{{77, {kTime + 500, 500, 6, 0, 0}},
                      {101, {kTime + 9'000'000, 9'000'000, 0x13, 11, 4096}}}))
      << "without a thread on the device's track";
}

TEST_F(OverheadRecords, CompilingIsToldWithItsThread) {
  Give({Jit(1, 1, kTime, kTime + 40, 72), Jit(2, 3, kTime + 50, kTime + 80, 72)});
  EXPECT_EQ(Rows(proto::ChunkKind::kOverhead), (Expected{{77, {kTime + 40, 40, 0x11, 11, 4096}},
                                                         {77, {kTime + 80, 30, 0x23, 11, 4096}}}));
}

TEST_F(OverheadRecords, WithoutTimesTheyAreCounted) {
  Give({Overhead(kLazyLoading, kObjectThread, 1000, 77, 0, 0),
        Overhead(kLazyLoading, kObjectThread, 1000, 77, kTime, 0)});
  EXPECT_TRUE(Rows(proto::ChunkKind::kOverhead).empty());
  EXPECT_EQ(sorter_.counters().without_times, 1u);
  EXPECT_EQ(sorter_.counters().unfinished, 1u);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
