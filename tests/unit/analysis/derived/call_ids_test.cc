// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The ids of calls, bit by bit.

#include "analysis/derived/call_ids.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::ProcessBuilder;

TEST(CallIds, HasThoseOfAllThreadsAndNoOther) {
  std::mt19937 random(1);
  std::set<uint32_t> ids;
  ProcessBuilder builder(1);
  for (int i = 0; i < 3000; ++i) {
    const uint32_t id = 65'000 + static_cast<uint32_t>(random() % 4000);
    ids.insert(id);
    builder.Thread(1 + i % 3).Call("call", i, i + 1, id);
  }
  const Process process = builder.Build();
  for (const int threads : {1, 3}) {
    const CallIds calls(process, threads);
    for (uint32_t id = 64'900; id < 69'100; ++id)
      ASSERT_EQ(calls.Has(id), ids.count(id) != 0) << id;
  }
}

TEST(CallIds, KnowsTheGreatestIdAndNotTheId0) {
  ProcessBuilder builder(1);
  builder.Thread(1).Call("call", 1, 2, 0xffffffff).Call("call", 3, 4, 0).Call("call", 5, 6, 1);
  const Process process = builder.Build();
  const CallIds calls(process, 1);
  EXPECT_TRUE(calls.Has(0xffffffff));
  EXPECT_FALSE(calls.Has(0xfffffffe));
  EXPECT_TRUE(calls.Has(1));
  EXPECT_FALSE(calls.Has(0)) << "a call without an id";
  EXPECT_FALSE(CallIds(Process(), 1).Has(1));
}

}  // namespace
}  // namespace gpuprof::analysis
