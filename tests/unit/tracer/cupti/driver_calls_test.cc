// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Of the driver's calls those that are inside a call of the runtime's are forgotten, in whatever
// order the records come; the others come out, each once.

#include "tracer/cupti/driver_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint64_t kLimit = 1000;

ApiCall Call(uint32_t tid, uint32_t correlation, uint64_t start, uint64_t end) {
  return {start, end, tid, correlation, 7, 0};
}

// A buffer each.
void Driver(DriverCalls* calls, const ApiCall& call) { calls->Take({}, {call}); }
void Runtime(DriverCalls* calls, const ApiCall& call) { calls->Take({call}, {}); }

std::vector<uint32_t> Released(DriverCalls* calls, uint64_t now, bool all = false) {
  std::vector<ApiCall> out;
  calls->Release(now, kLimit, all, &out);
  std::vector<uint32_t> ids;
  for (const ApiCall& call : out) ids.push_back(call.correlation);
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST(DriverCalls, InsideOfARuntimeCallTheyAreForgotten) {
  DriverCalls calls;
  Driver(&calls, Call(1, 5, 110, 190));
  Driver(&calls, Call(1, 5, 191, 195));
  Driver(&calls, Call(1, 6, 300, 310));
  Runtime(&calls, Call(1, 5, 100, 200));
  EXPECT_EQ(Released(&calls, 1, true), std::vector<uint32_t>{6});
  EXPECT_EQ(calls.held(), 0u);
}

TEST(DriverCalls, AnotherThreadsOrAnothersTimeIsNoInside) {
  DriverCalls calls;
  Driver(&calls, Call(1, 5, 110, 190));
  Driver(&calls, Call(2, 6, 110, 190));
  Runtime(&calls, Call(2, 5, 100, 200));
  Runtime(&calls, Call(2, 6, 200, 300));
  EXPECT_EQ(Released(&calls, 1, true), (std::vector<uint32_t>{5, 6}));
}

TEST(DriverCalls, WhatIsAroundMayComeLater) {
  DriverCalls calls;
  Driver(&calls, Call(1, 5, 110, 190));
  EXPECT_TRUE(Released(&calls, 1).empty());
  EXPECT_TRUE(Released(&calls, 2).empty()) << "its thread has done nothing since";
  Runtime(&calls, Call(1, 5, 100, 200));
  EXPECT_TRUE(Released(&calls, 3, true).empty());
}

TEST(DriverCalls, WhatIsAroundMayComeFirst) {
  DriverCalls calls;
  Runtime(&calls, Call(1, 5, 100, 200));
  EXPECT_TRUE(Released(&calls, 1).empty());
  Driver(&calls, Call(1, 5, 110, 190));
  EXPECT_TRUE(Released(&calls, 2, true).empty());
}

TEST(DriverCalls, OnceItsThreadHasGoneOnItIsItsOwn) {
  DriverCalls calls;
  Driver(&calls, Call(1, 5, 110, 190));
  EXPECT_TRUE(Released(&calls, 1).empty());
  Driver(&calls, Call(2, 6, 200, 210));
  EXPECT_TRUE(Released(&calls, 2).empty()) << "another thread tells nothing";
  Driver(&calls, Call(1, 5, 191, 195));
  EXPECT_TRUE(Released(&calls, 3).empty()) << "of the same call around, if there is one";
  Runtime(&calls, Call(1, 8, 400, 500));
  EXPECT_EQ(Released(&calls, 4), (std::vector<uint32_t>{5, 5}));
  EXPECT_EQ(Released(&calls, 4 + kLimit), std::vector<uint32_t>{6}) << "none is held for ever";
}

// Correlation ids that are far apart share a bucket.
TEST(DriverCalls, ManyOfOneBucketAreToldApart) {
  DriverCalls calls;
  constexpr uint32_t kFar = 1 << 20;
  for (uint32_t i = 0; i < 100; ++i) Driver(&calls, Call(1, 5 + i * kFar, i * 10 + 1, i * 10 + 5));
  for (uint32_t i = 0; i < 100; i += 2) Runtime(&calls, Call(1, 5 + i * kFar, i * 10, i * 10 + 9));
  EXPECT_TRUE(Released(&calls, 1).empty());
  EXPECT_EQ(calls.held(), 50u);
  Runtime(&calls, Call(1, 5 + kFar, 10, 19));
  const std::vector<uint32_t> released = Released(&calls, 2, true);
  EXPECT_EQ(released.size(), 49u);
  for (const uint32_t id : released) EXPECT_EQ((id - 5) / kFar % 2, 1u);
}

// In one buffer, the calls of the runtime more than the newest that are remembered.
TEST(DriverCalls, MoreInABufferThanAreRememberedAreToldApart) {
  DriverCalls calls;
  std::vector<ApiCall> runtime, driver;
  for (uint32_t i = 0; i < 40'000; ++i) {
    runtime.push_back(Call(1, i + 1, i * 10, i * 10 + 9));
    driver.push_back(Call(1, i + 1, i * 10 + 1, i * 10 + 5));
  }
  driver.push_back(Call(1, 7, 500'000, 500'001));
  calls.Take(runtime, driver);
  EXPECT_EQ(Released(&calls, 1, true), std::vector<uint32_t>{7});
}

TEST(DriverCalls, AreBounded) {
  DriverCalls calls;
  for (uint32_t i = 0; i <= DriverCalls::kMost; ++i)
    Driver(&calls, Call(1, i + 1, i * 10, i * 10 + 5));
  EXPECT_EQ(Released(&calls, 1).size(), DriverCalls::kMost + 1);
  EXPECT_EQ(calls.held(), 0u);
}

// Buffers as CUPTI delivers them: shuffled within, some a buffer late.
TEST(DriverCalls, InAnyOrderEachCallIsCountedOnce) {
  constexpr uint32_t kThreads = 5, kCalls = 4000, kBuffer = 500;
  std::mt19937 random(42);
  struct Record {
    ApiCall call;
    bool runtime;
  };
  std::vector<Record> records;
  std::vector<uint32_t> own;
  uint32_t correlation = 0;
  for (uint32_t i = 0; i < kCalls; ++i) {
    for (uint32_t tid = 1; tid <= kThreads; ++tid) {
      const uint64_t start = i * 100;
      ++correlation;
      records.push_back({Call(tid, correlation, start + 10, start + 20), false});
      if (random() % 3 == 0) {
        own.push_back(correlation);
      } else {
        records.push_back({Call(tid, correlation, start + 30, start + 40), false});
        records.push_back({Call(tid, correlation, start, start + 50), true});
      }
    }
  }
  std::vector<uint32_t> released;
  DriverCalls calls;
  for (size_t at = 0; at < records.size(); at += kBuffer) {
    const auto begin = records.begin() + static_cast<ptrdiff_t>(at);
    const auto end =
        records.begin() + static_cast<ptrdiff_t>(std::min(at + kBuffer, records.size()));
    std::shuffle(begin, end, random);
    std::vector<ApiCall> runtime, driver;
    for (auto record = begin; record != end; ++record)
      (record->runtime ? runtime : driver).push_back(record->call);
    calls.Take(runtime, driver);
    for (const uint32_t id : Released(&calls, at + 1)) released.push_back(id);
  }
  for (const uint32_t id : Released(&calls, 1, true)) released.push_back(id);
  std::sort(released.begin(), released.end());
  EXPECT_EQ(released, own);
}

// A program may make a thread for each of its requests.
TEST(DriverCalls, OfThreadsThatHaveNoneHeldFewAreRemembered) {
  DriverCalls calls;
  Driver(&calls, Call(1, 5, 110, 190));
  Runtime(&calls, Call(1, 6, 400, 500));
  Driver(&calls, Call(2, 7, 110, 190));
  size_t most = 0;
  for (uint32_t i = 0; i < 100'000; ++i) {
    Runtime(&calls, Call(10 + i, 10 + i, 100 + i, 200 + i));
    if (i % 2000 != 1999) continue;
    most = std::max(most, calls.threads());
    if (i == 1999) {
      EXPECT_TRUE(Released(&calls, 1).empty());
      EXPECT_EQ(calls.threads(), 2u);
    } else if (i == 3999) {
      EXPECT_EQ(Released(&calls, 2), std::vector<uint32_t>{5}) << "its thread had gone on before";
    } else {
      EXPECT_TRUE(Released(&calls, 3).empty());
    }
  }
  EXPECT_LE(most, DriverCalls::kManyThreads + 2000);
  EXPECT_LT(calls.memory_bytes(), 1u << 20);
  Runtime(&calls, Call(2, 8, 400, 500));
  EXPECT_EQ(Released(&calls, 4), std::vector<uint32_t>{7});
}

// The one whose call comes when its thread was forgotten waits for the next, or to the limit.
TEST(DriverCalls, OfAThreadThatWasForgottenNoneIsLost) {
  DriverCalls calls;
  Runtime(&calls, Call(1, 6, 400, 500));
  for (uint32_t i = 0; i < 5000; ++i) Runtime(&calls, Call(10 + i, 10 + i, 100, 200));
  EXPECT_TRUE(Released(&calls, 1).empty());
  EXPECT_EQ(calls.threads(), 0u);
  Driver(&calls, Call(1, 5, 110, 190));
  Driver(&calls, Call(2, 7, 110, 190));
  EXPECT_TRUE(Released(&calls, 2).empty());
  Runtime(&calls, Call(1, 8, 600, 700));
  EXPECT_EQ(Released(&calls, 3), std::vector<uint32_t>{5});
  EXPECT_EQ(Released(&calls, 3 + kLimit), std::vector<uint32_t>{7});
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
