// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The activity buffers: in one hand at a time, taken in the order in which they came, bounded.

#include "tracer/cupti/buffers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace gpuprof::tracer::cupti {
namespace {

uint8_t* Request(BufferPool* pool) {
  size_t size = 0;
  uint8_t* buffer = pool->Request(&size);
  EXPECT_EQ(size, buffer != nullptr ? BufferPool::kBufferBytes : 0);
  return buffer;
}

TEST(BufferPool, GivesOutNoMoreThanItMay) {
  const auto pool = std::make_unique<BufferPool>();
  pool->SetLimit(3 * BufferPool::kBufferBytes);
  std::vector<uint8_t*> given;
  for (int i = 0; i < 3; ++i) given.push_back(Request(pool.get()));
  for (const uint8_t* buffer : given) EXPECT_NE(buffer, nullptr);
  EXPECT_EQ(Request(pool.get()), nullptr);
  EXPECT_EQ(pool->refused(), 1u);
  EXPECT_EQ(pool->outstanding(), 3u);
  EXPECT_EQ(pool->memory_bytes(), 3 * BufferPool::kBufferBytes);
  pool->Complete(given[1], 64);
  FilledBuffer filled;
  ASSERT_TRUE(pool->Take(&filled));
  EXPECT_EQ(Request(pool.get()), nullptr) << "the drain still reads it";
  pool->Return(filled);
  EXPECT_EQ(Request(pool.get()), given[1]);
}

TEST(BufferPool, SaysOnceThatNoneWasLeft) {
  const auto pool = std::make_unique<BufferPool>();
  pool->SetLimit(8 * BufferPool::kBufferBytes);
  for (int i = 0; i < 8; ++i) EXPECT_NE(Request(pool.get()), nullptr);
  EXPECT_FALSE(pool->TakeCrowded());
  EXPECT_EQ(Request(pool.get()), nullptr);
  EXPECT_TRUE(pool->is_crowded());
  EXPECT_TRUE(pool->TakeCrowded());
  EXPECT_FALSE(pool->TakeCrowded());
}

TEST(BufferPool, AForkedChildTakesNothingOfItsParents) {
  const auto pool = std::make_unique<BufferPool>();
  uint8_t* filled = Request(pool.get());
  uint8_t* kept = Request(pool.get());
  pool->Complete(filled, 64);
  pool->Forget();
  FilledBuffer none;
  EXPECT_FALSE(pool->Take(&none));
  EXPECT_FALSE(pool->HasFilled());
  EXPECT_EQ(pool->outstanding(), 0u);
  EXPECT_EQ(pool->memory_bytes(), 0u);
  const uint8_t* next = Request(pool.get());
  EXPECT_NE(next, filled);
  EXPECT_NE(next, kept);
}

TEST(BufferPool, TakesTheOldestFirst) {
  const auto pool = std::make_unique<BufferPool>();
  uint8_t* a = Request(pool.get());
  uint8_t* b = Request(pool.get());
  uint8_t* c = Request(pool.get());
  pool->Complete(c, 3);
  pool->Complete(a, 1);
  pool->Complete(b, 2);
  for (const size_t valid : {3u, 1u, 2u}) {
    FilledBuffer filled;
    ASSERT_TRUE(pool->Take(&filled));
    EXPECT_EQ(filled.valid, valid);
    pool->Return(filled);
  }
  FilledBuffer none;
  EXPECT_FALSE(pool->Take(&none));
  EXPECT_EQ(pool->outstanding(), 0u);
}

TEST(BufferPool, WhatItNeverGaveOutIsIgnored) {
  const auto pool = std::make_unique<BufferPool>();
  uint8_t stranger[8];
  pool->Complete(stranger, 8);
  pool->Complete(nullptr, 0);
  FilledBuffer none;
  EXPECT_FALSE(pool->Take(&none));
  uint8_t* buffer = Request(pool.get());
  pool->Complete(buffer, BufferPool::kBufferBytes + 1);
  ASSERT_TRUE(pool->Take(&none));
  EXPECT_EQ(none.valid, 0u) << "longer than it can be";
}

TEST(BufferPool, WhereARefusalIsFatalSparesComeBeyondTheLimit) {
  const auto pool = std::make_unique<BufferPool>();
  pool->SetLimit(2 * BufferPool::kBufferBytes);
  pool->AllowSpares();
  uint8_t* regular = Request(pool.get());
  Request(pool.get());
  std::vector<uint8_t*> spares;
  size_t size = 0;
  for (int i = 0; i < 40; ++i) {
    spares.push_back(pool->Request(&size));
    ASSERT_NE(spares.back(), nullptr);
    EXPECT_EQ(size, BufferPool::kSpareBytes);
    EXPECT_TRUE(pool->IsSpare(spares.back()));
  }
  EXPECT_FALSE(pool->IsSpare(regular));
  pool->CompleteSpare(spares[3], 17);
  EXPECT_EQ(pool->let_go(), 17u);
  FilledBuffer none;
  EXPECT_FALSE(pool->Take(&none)) << "nobody reads it";
  EXPECT_EQ(pool->Request(&size), spares[3]);
  pool->Complete(regular, 8);
  EXPECT_TRUE(pool->HasFilled());
  ASSERT_TRUE(pool->Take(&none));
  pool->Return(none);
  EXPECT_FALSE(pool->HasFilled());
  EXPECT_EQ(Request(pool.get()), regular) << "a regular one is free again";
  EXPECT_EQ(pool->refused(), 0u);
}

TEST(BufferPool, WhereEachThreadHoldsOneThereIsRoomForManyThreads) {
  const auto pool = std::make_unique<BufferPool>();
  constexpr uint64_t kLimit = 16 * BufferPool::kBufferBytes;
  pool->SetLimit(kLimit, /*of_threads=*/true);
  size_t size = 0;
  for (int i = 0; i < 48; ++i) {
    EXPECT_NE(pool->Request(&size), nullptr);
    EXPECT_EQ(size, BufferPool::kSmallBufferBytes);
  }
  uint8_t* last = nullptr;
  for (int i = 0; i < 256; ++i) {
    last = pool->Request(&size);
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(size, BufferPool::kCrowdBufferBytes);
    EXPECT_FALSE(pool->IsSpare(last)) << "it is read as all are";
  }
  EXPECT_FALSE(pool->is_crowded());
  EXPECT_EQ(pool->Request(&size), nullptr);
  EXPECT_TRUE(pool->is_crowded());
  EXPECT_EQ(pool->refused(), 1u);
  EXPECT_EQ(pool->memory_bytes(), kLimit);
  pool->Complete(last, BufferPool::kCrowdBufferBytes + 1);
  FilledBuffer filled;
  ASSERT_TRUE(pool->Take(&filled));
  EXPECT_EQ(filled.valid, 0u) << "longer than it can be";
  pool->Return(filled);
  EXPECT_EQ(pool->Request(&size), last);
}

// Threads of the program ask, fill and hand over; one thread drains. Each byte is seen once.
TEST(BufferPool, ThreadsFillAndOneDrains) {
  constexpr int kThreads = 4, kRounds = 2000;
  const auto pool = std::make_unique<BufferPool>();
  pool->SetLimit(8 * BufferPool::kBufferBytes);
  std::atomic<int> sent{0}, running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        uint8_t* buffer = Request(pool.get());
        if (buffer == nullptr) continue;
        const int32_t mark = t * kRounds + i;
        std::memcpy(buffer, &mark, sizeof mark);
        ++sent;
        pool->Complete(buffer, sizeof mark);
      }
      --running;
    });
  }
  std::vector<int> seen(kThreads * kRounds);
  int taken = 0;
  while (running.load() != 0 || taken < sent.load()) {
    FilledBuffer filled;
    if (!pool->Take(&filled)) continue;
    int32_t mark = -1;
    std::memcpy(&mark, filled.bytes, sizeof mark);
    pool->Return(filled);
    ASSERT_GE(mark, 0);
    ++seen[static_cast<size_t>(mark)];
    ++taken;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, sent.load());
  for (const int count : seen) EXPECT_LE(count, 1);
  EXPECT_EQ(static_cast<uint64_t>(sent.load()) + pool->refused(),
            static_cast<uint64_t>(kThreads * kRounds));
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
