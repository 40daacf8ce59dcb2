// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/torch/async_ranges.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace gpuprof::tracer {
namespace {

const void* Address(uint64_t number) { return reinterpret_cast<const void*>(number * 64); }

TEST(AsyncRanges, AnotherThreadEndsARange) {
  AsyncRanges ranges;
  ASSERT_TRUE(ranges.Begin(Address(1), 1, 70));
  uint64_t start = 0;
  std::thread([&] { start = ranges.End(Address(1), 1); }).join();
  EXPECT_EQ(start, 70U);
  EXPECT_EQ(ranges.End(Address(1), 1), 0U) << "it has ended";
}

TEST(AsyncRanges, AnAddressIsUsedAgainAfterACapture) {
  AsyncRanges ranges;
  ASSERT_TRUE(ranges.Begin(Address(1), 1, 70));
  ASSERT_TRUE(ranges.Begin(Address(1), 2, 90)) << "the first never ended";
  EXPECT_EQ(ranges.End(Address(1), 2), 90U);
  EXPECT_EQ(ranges.End(Address(1), 2), 0U);
}

TEST(AsyncRanges, AFullTableRefusesAndForgetsNothing) {
  AsyncRanges ranges;
  std::vector<uint64_t> taken;
  for (uint64_t i = 1; i < 2000; ++i)
    if (ranges.Begin(Address(i), 1, i)) taken.push_back(i);
  EXPECT_LT(taken.size(), 1999U);
  EXPECT_GT(taken.size(), 256U);
  for (const uint64_t i : taken) EXPECT_EQ(ranges.End(Address(i), 1), i);
}

TEST(AsyncRanges, ThreadsBeginAndEndAtOnce) {
  const auto ranges = std::make_unique<AsyncRanges>();
  std::vector<std::thread> threads;
  for (uint64_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 1; i <= 20'000; ++i) {
        const void* const range = Address(thread * 100'000 + i % 50);
        if (!ranges->Begin(range, 1, i)) continue;
        EXPECT_EQ(ranges->End(range, 1), i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace gpuprof::tracer
