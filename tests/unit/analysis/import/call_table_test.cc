// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/import/call_table.h"

#include <gtest/gtest.h>

#include <unordered_map>

namespace gpuprof::analysis::import {
namespace {

TEST(CallTable, AnEmptyTableHasNoCall) { EXPECT_EQ(CallTable().Find(1), nullptr); }

TEST(CallTable, AKnownIdGivesTheSameCall) {
  CallTable table;
  bool is_new = false;
  table.Add(7, &is_new).name = 3;
  EXPECT_TRUE(is_new);
  EXPECT_EQ(table.Add(7, &is_new).name, 3u);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(table.calls().size(), 1u);
  EXPECT_EQ(table.Find(8), nullptr);
}

// Ids that count up, ids with a thread's number in front, ids far apart, the largest.
TEST(CallTable, FindsEachOfManyIds) {
  CallTable table;
  std::unordered_map<int64_t, uint32_t> expected;
  const auto add = [&](int64_t id) {
    bool is_new = false;
    LaunchCall& call = table.Add(id, &is_new);
    EXPECT_EQ(is_new, expected.count(id) == 0) << id;
    call.name = static_cast<uint32_t>(expected.size());
    expected[id] = call.name;
  };
  for (int64_t i = 1; i < 5000; ++i) add(i);
  for (int64_t i = 1; i < 3000; ++i) add(i << 32 | 5);
  for (int64_t i = 1; i < 3000; ++i) add(i << 10);
  add(INT64_MAX);
  EXPECT_EQ(table.calls().size(), expected.size());
  for (const auto& [id, name] : expected) {
    ASSERT_NE(table.Find(id), nullptr) << id;
    EXPECT_EQ(table.Find(id)->name, name) << id;
  }
  EXPECT_EQ(table.Find(4'000'000'000'000), nullptr);
}

}  // namespace
}  // namespace gpuprof::analysis::import
