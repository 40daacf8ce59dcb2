// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Frees and allocations of one address that coarse times put into the wrong order.

#include "analysis/passes/memory/heap_order.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpuprof::analysis {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr uint64_t kBlock = 0x10;

class HeapOrderTest : public ::testing::Test {
 protected:
  static HeapOrder::Event At(int64_t ms, size_t track, bool is_coarse = true) {
    return {track, ms * kMillisecond, kBlock, is_coarse};
  }
  void Alloc(const HeapOrder::Event& event) { order_.Alloc(event, 100, false, 1); }
  // Ends the events. Returns the numbers of the blocks that live then.
  std::vector<uint64_t> LiveAtEnd(HeapOrder* order) {
    order->Flush();
    memory_.Finish();
    std::vector<uint64_t> numbers;
    for (const MemoryBlock& block : memory_.live_at_end()) numbers.push_back(block.number);
    return numbers;
  }

  LiveMemory memory_{0, 0, 1000 * kMillisecond, 10, nullptr};
  HeapOrder order_{&memory_, 0};
};

TEST_F(HeapOrderTest, AFreeThatComesAfterTheNextAllocationEndsTheOldBlock) {
  Alloc(At(0, 1));
  Alloc(At(10, 2));
  order_.Free(At(11, 1));  // thread 1's free made way for thread 2's block
  EXPECT_EQ(LiveAtEnd(&order_), std::vector<uint64_t>{1});
  EXPECT_EQ(memory_.implied_frees(), 0u);
  EXPECT_EQ(memory_.unmatched_frees(), 0u);
}

TEST_F(HeapOrderTest, AFreeThatComesBeforeItsAllocationEndsIt) {
  order_.Free(At(10, 2));
  Alloc(At(11, 1));
  EXPECT_TRUE(LiveAtEnd(&order_).empty());
  EXPECT_EQ(memory_.unmatched_frees(), 0u);
}

TEST_F(HeapOrderTest, TheMeasuredStepOfTheClockIsTheReach) {
  HeapOrder order(&memory_, 20 * kMillisecond);
  order.Free(At(10, 2));
  order.Alloc(At(28, 1, /*is_coarse=*/false), 100, false, 1);
  EXPECT_TRUE(LiveAtEnd(&order).empty());
  EXPECT_EQ(memory_.unmatched_frees(), 0u);
}

TEST_F(HeapOrderTest, AFreeOfAnOldBlockStaysUnmatched) {
  order_.Free(At(10, 2));
  Alloc(At(100, 1));  // too late to be the block that was freed
  EXPECT_EQ(LiveAtEnd(&order_), std::vector<uint64_t>{0});
  EXPECT_EQ(memory_.unmatched_frees(), 1u);
}

TEST_F(HeapOrderTest, OneThreadsOwnOrderAndExactTimesAreBelieved) {
  order_.Free(At(10, 1));
  Alloc(At(11, 1));
  order_.Free(At(20, 1));
  order_.Free(At(30, 2, /*is_coarse=*/false));
  Alloc(At(31, 1, /*is_coarse=*/false));
  EXPECT_EQ(LiveAtEnd(&order_), std::vector<uint64_t>{1});
  EXPECT_EQ(memory_.unmatched_frees(), 2u);
}

}  // namespace
}  // namespace gpuprof::analysis
