// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/wasm/platform/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

constexpr size_t kMost = size_t{16} << 20;

// Memory that grows at its end, as that of a page does. With gaps, each area is apart.
struct Memory {
  alignas(16) static inline char bytes[kMost];
  static inline size_t used = 0, step = 0, gap = 0, areas = 0;

  static void Reset(size_t its_step, size_t its_gap) {
    used = areas = 0;
    step = its_step;
    gap = its_gap;
  }
  static Heap::Area More(size_t wanted) {
    const size_t size = (std::max(wanted, step) + 15) / 16 * 16;
    if (size + gap > kMost - used) return {};
    char* const begin = bytes + used + gap;
    used += gap + size;
    ++areas;
    return {begin, size};
  }
};

struct Room {
  unsigned char* bytes;
  size_t size;
  unsigned char letter;
};

void Fill(const Room& room) { std::memset(room.bytes, room.letter, room.size); }

bool IsWhole(const Room& room) {
  for (size_t i = 0; i < room.size; ++i)
    if (room.bytes[i] != room.letter) return false;
  return true;
}

size_t SizeFrom(std::mt19937* random) {
  return (*random)() % (size_t{1} << (1 + (*random)() % 14));
}

class HeapTest : public testing::TestWithParam<size_t> {};

TEST_P(HeapTest, RoomsKeepTheirBytes) {
  Memory::Reset(64 << 10, GetParam());
  Heap heap(Memory::More);
  std::mt19937 random(3);
  std::vector<Room> rooms;
  for (int i = 0; i < 40'000; ++i) {
    const uint32_t what = random() % 16;
    if (rooms.empty() || (what < 8 && rooms.size() < 400)) {
      const size_t size = SizeFrom(&random);
      const size_t alignment = size_t{1} << (random() % 13);
      auto* const bytes = static_cast<unsigned char*>(heap.Take(size, alignment));
      ASSERT_NE(bytes, nullptr);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(bytes) % std::max(alignment, Heap::kAlignment), 0u);
      ASSERT_GE(Heap::BytesOf(bytes), size);
      rooms.push_back({bytes, size, static_cast<unsigned char>(i)});
      Fill(rooms.back());
      continue;
    }
    Room& room = rooms[random() % rooms.size()];
    ASSERT_TRUE(IsWhole(room));
    if (what < 12) {
      heap.GiveBack(room.bytes);
      room = rooms.back();
      rooms.pop_back();
    } else {
      const size_t size = SizeFrom(&random);
      room.bytes = static_cast<unsigned char*>(heap.Resize(room.bytes, size));
      ASSERT_NE(room.bytes, nullptr);
      room.size = std::min(room.size, size);
      ASSERT_TRUE(IsWhole(room));
      room.size = size;
      Fill(room);
    }
  }
  for (const Room& room : rooms) {
    EXPECT_TRUE(IsWhole(room));
    heap.GiveBack(room.bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutGaps, HeapTest, testing::Values(0, 48));

TEST(HeapTest, WhatWasGivenBackIsOneRoomAgain) {
  Memory::Reset(4096, 0);
  Heap heap(Memory::More);
  std::vector<void*> rooms;
  for (int i = 0; i < 1000; ++i) rooms.push_back(heap.Take(1000));
  const size_t areas = Memory::areas;
  EXPECT_GT(areas, 100u);
  std::shuffle(rooms.begin(), rooms.end(), std::mt19937(5));
  for (void* const room : rooms) heap.GiveBack(room);
  EXPECT_NE(heap.Take(900'000), nullptr);
  EXPECT_EQ(Memory::areas, areas);
}

// A column of 65,536 values takes little more than its bytes.
TEST(HeapTest, ABufferOfAPowerOfTwoTakesNoMoreThanItsSize) {
  Memory::Reset(64 << 10, 0);
  Heap heap(Memory::More);
  for (int i = 0; i < 100; ++i) EXPECT_NE(heap.Take(size_t{1} << 16), nullptr);
  EXPECT_LT(Memory::used, (size_t{1} << 16) * 110);
}

TEST(HeapTest, WithoutMemoryNothingIsLost) {
  Memory::Reset(64 << 10, 0);
  Heap heap(Memory::More);
  std::vector<Room> rooms;
  for (unsigned char i = 0;; ++i) {
    auto* const bytes = static_cast<unsigned char*>(heap.Take(300'000));
    if (bytes == nullptr) break;
    rooms.push_back({bytes, 300'000, i});
    Fill(rooms.back());
  }
  EXPECT_GT(rooms.size(), 40u);
  EXPECT_EQ(heap.Take(~size_t{0}), nullptr);
  EXPECT_EQ(heap.Take(~size_t{0} / 2 + 1), nullptr);
  EXPECT_EQ(heap.Resize(rooms[3].bytes, kMost), nullptr);
  for (const Room& room : rooms) EXPECT_TRUE(IsWhole(room));
  heap.GiveBack(rooms[7].bytes);
  EXPECT_EQ(heap.Take(300'000), rooms[7].bytes);
}

}  // namespace
}  // namespace gpuprof::analysis
