// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Each row is entered once and left once, within the rows that it lies in.

#include "analysis/steps/op_walk.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "analysis/model/builder.h"

namespace gpuprof::analysis {
namespace {

struct Row {
  int64_t start, end;
  proto::OpScope scope = proto::OpScope::kFunction;
};

Process ProcessOf(const std::vector<Row>& rows) {
  ProcessBuilder builder(1, "");
  const uint32_t timeline = builder.Thread(1);
  for (const Row& row : rows) {
    OpRow op;
    op.span = {row.start, row.end};
    op.name = builder.Intern("op");
    op.scope = row.scope;
    builder.Add(timeline, op);
  }
  return builder.Finish(0);
}

// Walks and checks that the open rows are always those around the row. Returns the calls.
uint64_t Walk(const Process& process) {
  const OpTree tree(process.tracks[0].op);
  std::vector<int> entered(tree.rows(), 0), left(tree.rows(), 0);
  std::vector<uint32_t> open;
  uint64_t calls = 0;
  WalkOps(
      tree,
      [&](uint32_t row) {
        ++calls;
        ++entered[row];
        EXPECT_EQ(open.empty() ? OpTree::kNone : open.back(), tree.parent(row));
        open.push_back(row);
      },
      [&](uint32_t row) {
        ++calls;
        ++left[row];
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(open.back(), row);
        open.pop_back();
      });
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(entered, std::vector<int>(tree.rows(), 1));
  EXPECT_EQ(left, std::vector<int>(tree.rows(), 1));
  return calls;
}

TEST(WalkOps, NestedAndFollowingRows) {
  EXPECT_EQ(Walk(ProcessOf({{0, 100}, {10, 40}, {20, 30}, {40, 60}, {100, 200}, {150, 160}})), 12u);
  EXPECT_EQ(Walk(ProcessOf({})), 0u);
}

TEST(WalkOps, RowsOfOneMomentAndWithoutLength) {
  EXPECT_EQ(Walk(ProcessOf({{5, 10}, {5, 10}, {5, 5}, {5, 5}, {10, 10}, {10, 12}})), 12u);
}

// A range of the user that crosses others has nothing around it, and what it lies in stays open.
TEST(WalkOps, CrossingRanges) {
  const auto user = proto::OpScope::kUser;
  EXPECT_EQ(Walk(ProcessOf({{0, 100},
                            {10, 30, user},
                            {20, 40, user},
                            {50, 60},
                            {5, 8},
                            {90, 200, user},
                            {150, 250, user},
                            {160, 170}})),
            16u);
}

TEST(WalkOps, DeepNestingTakesTwoCallsARow) {
  constexpr int kRows = 50'000;
  std::vector<Row> rows;
  for (int i = 0; i < kRows; ++i) rows.push_back({i, 2 * kRows - i});
  EXPECT_EQ(Walk(ProcessOf(rows)), uint64_t{2} * kRows);
}

}  // namespace
}  // namespace gpuprof::analysis
