// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Places are found by their keys, those with one key in the order in which they were added.

#include "tracer/cupti/place_index.h"

#include <gtest/gtest.h>

namespace gpuprof::tracer::cupti {
namespace {

TEST(PlaceIndex, FindsEachAmongMany) {
  PlaceIndex index;
  const auto any = [](uint32_t) { return true; };
  EXPECT_EQ(index.Find(7, any), PlaceIndex::kNone);
  constexpr uint32_t kMany = 100'000;
  const auto key = [](uint32_t i) { return uint64_t{i} << 32 | i % 3; };
  for (uint32_t i = 0; i < kMany; ++i) index.Add(key(i), i);
  for (uint32_t i = 0; i < kMany; ++i)
    ASSERT_EQ(index.Find(key(i), [&](uint32_t place) { return place == i; }), i);
  EXPECT_EQ(index.Find(key(kMany), [](uint32_t place) { return place == kMany; }),
            PlaceIndex::kNone);
  EXPECT_LE(index.memory_bytes(), uint64_t{kMany} * 4 * 8);
  index.Clear();
  EXPECT_EQ(index.Find(key(1), any), PlaceIndex::kNone);
  EXPECT_EQ(index.memory_bytes(), 0u);
}

TEST(PlaceIndex, ThoseWithOneKeyAreAskedForInTheirOrder) {
  PlaceIndex index;
  constexpr uint32_t kMany = 1000;
  for (uint32_t i = 0; i < kMany; ++i) {
    index.Add(i % 5, i);
    uint32_t next = i % 5;
    index.Find(i % 5, [&](uint32_t place) {
      if (place % 5 != i % 5) return false;
      EXPECT_EQ(place, next);
      next += 5;
      return false;
    });
    ASSERT_EQ(next, i + 5) << "all, once each";
  }
}

struct Entry {
  uint32_t used;
};

TEST(PlaceIndex, HalfAreNotUsedAfterTheMedian) {
  EXPECT_EQ(MedianUse(std::vector<Entry>{{9}}), 9u);
  EXPECT_EQ(MedianUse(std::vector<Entry>{{5}, {1}, {9}, {3}, {7}}), 5u);
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
