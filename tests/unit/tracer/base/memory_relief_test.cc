// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory is given back when it gets short, and again only once more of it was taken.

#include "tracer/base/memory_relief.h"

#include <gtest/gtest.h>

namespace gpuprof::tracer {
namespace {

constexpr uint64_t kMiB = 1u << 20;

TEST(MemoryRelief, IsNotDueWhereThereIsEnough) {
  MemoryRelief relief;
  EXPECT_FALSE(relief.IsDue(false, 20 * kMiB));
}

TEST(MemoryRelief, IsDueOnceWhereMemoryStaysShort) {
  MemoryRelief relief;
  ASSERT_TRUE(relief.IsDue(true, 25 * kMiB));
  relief.Given(25 * kMiB);
  for (int ring = 0; ring < 100; ++ring) EXPECT_FALSE(relief.IsDue(true, 25 * kMiB + 4096));
}

TEST(MemoryRelief, IsDueAgainWhereMoreIsTaken) {
  MemoryRelief relief;
  ASSERT_TRUE(relief.IsDue(true, 30 * kMiB));
  relief.Given(25 * kMiB);
  EXPECT_FALSE(relief.IsDue(true, 26 * kMiB));
  EXPECT_TRUE(relief.IsDue(true, 26 * kMiB + 4096));
}

TEST(MemoryRelief, IsDueAgainWhenItGetsShortAnew) {
  MemoryRelief relief;
  ASSERT_TRUE(relief.IsDue(true, 30 * kMiB));
  relief.Given(30 * kMiB);
  EXPECT_FALSE(relief.IsDue(false, 20 * kMiB));
  EXPECT_TRUE(relief.IsDue(true, 25 * kMiB)) << "less than the last time";
}

}  // namespace
}  // namespace gpuprof::tracer
