// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A ring that grows while it is filled for the first time keeps each record in its slot.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "proto/ring.h"

namespace gpuprof::proto {
namespace {

constexpr uint32_t kFew = 64;
constexpr uint32_t kMost = 1024;

struct FreePages {
  void operator()(RingHeader* ring) const { std::free(ring); }
};
using OwnedRing = std::unique_ptr<RingHeader, FreePages>;

OwnedRing MakeRing() {
  constexpr size_t kBytes = kRingHeaderBytes + kMost * kRecordBytes;
  void* pages = std::aligned_alloc(kPageBytes, kBytes);
  __builtin_memset(pages, 0, kBytes);
  OwnedRing ring(static_cast<RingHeader*>(pages));
  ring->capacity = kFew;
  ring->most = kMost;
  return ring;
}

struct Grower : WakeNobody {
  bool* has_room;
  int* times;
  bool Grow(RingHeader* ring) const {
    if (!*has_room) return false;
    ++*times;
    ring->capacity *= 4;
    return true;
  }
};

uint64_t Write(RingHeader* ring, uint64_t count, Grower wake) {
  uint64_t written = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const Record record = {ring->head.load() + 1, 0, 0, 0, 0, ring->head.load(), 0};
    written += RingWrite(ring, record, wake) ? 1 : 0;
  }
  return written;
}

TEST(RingGrowth, KeepsEachRecord) {
  const OwnedRing ring = MakeRing();
  bool has_room = true;
  int times = 0;
  EXPECT_EQ(Write(ring.get(), kMost, {{}, &has_room, &times}), kMost);
  EXPECT_EQ(times, 2);
  EXPECT_EQ(ring->capacity, kMost);
  EXPECT_EQ(ring->dropped.load(), 0u);
  for (uint64_t at = 0; at < kMost; ++at) EXPECT_EQ(RingSlot(ring.get(), at)->a, at);
}

TEST(RingGrowth, BeginsBeforeTheRingIsHalfFull) {
  const OwnedRing ring = MakeRing();
  bool has_room = true;
  int times = 0;
  Write(ring.get(), kFew / kWakeShare, {{}, &has_room, &times});
  EXPECT_EQ(times, 0) << "a short process needs no more";
  Write(ring.get(), kFew / kWakeShare + 1, {{}, &has_room, &times});
  EXPECT_EQ(times, 1);
}

TEST(RingGrowth, MakesRoomForALargeGroup) {
  const OwnedRing ring = MakeRing();
  bool has_room = true;
  int times = 0;
  EXPECT_EQ(RingReserve(ring.get(), 1, kFew + 10, 1, Grower{{}, &has_room, &times}), 0u);
  EXPECT_GT(ring->capacity, kFew + 10);
}

TEST(RingGrowth, OfAFullDiskDropsAndCounts) {
  const OwnedRing ring = MakeRing();
  bool has_room = false;
  int times = 0;
  EXPECT_EQ(Write(ring.get(), kFew + 5, {{}, &has_room, &times}), kFew);
  EXPECT_EQ(ring->dropped.load(), 5u);
  EXPECT_EQ(ring->capacity, kFew);
}

// A record behind the first lap has another slot in a larger ring.
TEST(RingGrowth, EndsWithTheFirstLap) {
  const OwnedRing ring = MakeRing();
  bool has_room = false;
  int times = 0;
  Write(ring.get(), kFew, {{}, &has_room, &times});
  ring->tail.store(kFew);
  Write(ring.get(), 1, {{}, &has_room, &times});
  has_room = true;
  EXPECT_EQ(Write(ring.get(), kFew - 1, {{}, &has_room, &times}), kFew - 1u);
  EXPECT_EQ(times, 0);
  EXPECT_EQ(ring->capacity, kFew);
}

}  // namespace
}  // namespace gpuprof::proto
