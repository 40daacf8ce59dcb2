// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Nesting and self time of ops, on good rows and on damaged ones.

#include "analysis/steps/op_tree.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::ProcessBuilder;

int64_t TotalSelf(const OpTree& tree) {
  int64_t total = 0;
  for (size_t row = 0; row < tree.rows(); ++row) total += tree.self_ns(row);
  return total;
}

int64_t TotalBusy(const OpTree& tree) {
  int64_t total = 0;
  for (const Interval& interval : tree.Busy()) total += interval.length();
  return total;
}

TEST(OpTree, ParentsAndSelfTimes) {
  ProcessBuilder builder(1);
  builder.Thread(1)
      .Op("outer", 0, 100)
      .Op("a", 10, 30)
      .Op("aa", 12, 20)
      .Op("b", 40, 90)
      .Op("next", 100, 130);
  const Process process = builder.Build();
  const OpTree tree(process.tracks[0].op);
  // Rows by end: aa, a, b, outer, next.
  EXPECT_EQ(tree.parent(0), 1u);
  EXPECT_EQ(tree.parent(1), 3u);
  EXPECT_EQ(tree.parent(2), 3u);
  EXPECT_EQ(tree.parent(3), OpTree::kNone);
  EXPECT_EQ(tree.parent(4), OpTree::kNone);
  EXPECT_EQ(tree.self_ns(0), 8);
  EXPECT_EQ(tree.self_ns(1), 12);
  EXPECT_EQ(tree.self_ns(3), 100 - 20 - 50);
  EXPECT_EQ(tree.Busy(), (std::vector<Interval>{{0, 130}}));
}

TEST(OpTree, MarksWithoutADepthNestByTheirTimes) {
  ProcessBuilder builder(1);
  builder.Thread(1)
      .Op("run", 0, 1000, proto::OpScope::kTraceMe)
      .Op("early", 100, 300, proto::OpScope::kTraceMe)
      .Op("late", 400, 900, proto::OpScope::kTraceMe)
      .Op("moment", 500, 500, proto::OpScope::kTraceMe)
      .Op("next", 1000, 1300, proto::OpScope::kTraceMe);
  Process process = builder.Build();
  OpTable& ops = process.tracks[0].op;
  Column<uint32_t> operations;
  for (size_t row = 0; row < ops.rows(); ++row) operations.push_back(ops.operation[row] & 0xffff);
  ops.operation = operations;
  const OpTree tree(ops);
  // Rows by end: early, moment, late, run, next.
  EXPECT_EQ(tree.parent(0), 3u);
  EXPECT_EQ(tree.parent(1), 2u);
  EXPECT_EQ(tree.parent(2), 3u);
  EXPECT_EQ(tree.parent(3), OpTree::kNone);
  EXPECT_EQ(tree.parent(4), OpTree::kNone);
  EXPECT_EQ(tree.self_ns(3), 1000 - 200 - 500);
  EXPECT_EQ(tree.self_ns(2), 500);
}

TEST(OpTree, UnfinishedSpansShareTheirEnd) {
  ProcessBuilder builder(1);
  builder.Thread(1).Op("outer", 0, 100, proto::OpScope::kFunction, proto::kFlagIncomplete);
  builder.Thread(1).Op("inner", 50, 100, proto::OpScope::kFunction, proto::kFlagIncomplete);
  Process process = builder.Build();
  // Written outermost first, which is not the order of their ends' nesting.
  OpTable& ops = process.tracks[0].op;
  ops.duration_ns.Reorder({1, 0});
  ops.name.Reorder({1, 0});
  ops.operation.Reorder({1, 0});
  const OpTree tree(ops);
  EXPECT_EQ(tree.parent(1), 0u);
  EXPECT_EQ(tree.self_ns(0), 50);
  EXPECT_EQ(tree.self_ns(1), 50);
}

TEST(OpTree, AChildWhoseParentWasLostIsNoOnesTime) {
  ProcessBuilder builder(1);
  builder.Thread(1).Op("parent", 0, 50).Op("child", 10, 20).Op("later", 60, 100).Op("its", 70, 80);
  Process process = builder.Build();
  OpTable& ops = process.tracks[0].op;
  // Loses row 1, the parent: its child now has depth 1 and nobody above.
  for (auto* column : {&ops.end_ns, &ops.duration_ns}) column->Reorder({0, 2, 3});
  for (auto* column : {&ops.name, &ops.operation}) column->Reorder({0, 2, 3});
  const OpTree tree(ops);
  EXPECT_EQ(tree.parent(0), OpTree::kNone);
  EXPECT_EQ(tree.self_ns(0), 10);
  EXPECT_EQ(tree.self_ns(1), 10);
  EXPECT_EQ(tree.self_ns(2), 30);
}

// Two coroutines of one thread open and close their ranges in turn.
TEST(OpTree, RangesThatCrossCutNothing) {
  ProcessBuilder builder(1);
  builder.Thread(1)
      .User("step", 0, 100)
      .User("ticker", 50, 120)
      .Op("a", 10, 30)
      .Op("b", 60, 90)
      .Op("bb", 70, 80)
      .Op("c", 105, 110);
  const Process process = builder.Build();
  const OpTree tree(process.tracks[0].op);
  // Rows by end: a, bb, b, step, c, ticker.
  EXPECT_EQ(tree.self_ns(0), 20);
  EXPECT_EQ(tree.self_ns(1), 10);
  EXPECT_EQ(tree.self_ns(2), 20);
  EXPECT_EQ(tree.parent(1), 2u);
  EXPECT_EQ(tree.parent(2), OpTree::kNone);
  EXPECT_EQ(tree.start(3), 0);
  EXPECT_EQ(tree.end(3), 100);
  EXPECT_EQ(tree.self_ns(3), 100 - 20 - 30);
  EXPECT_EQ(tree.self_ns(4), 5);
  EXPECT_EQ(tree.self_ns(5), 20 - 5);
  EXPECT_EQ(TotalSelf(tree), TotalBusy(tree));
}

// Whatever the rows say, no nanosecond is counted twice and none is negative.
TEST(OpTree, SelfTimesOfDamagedRowsNeverOverlap) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    OpTable ops;
    const size_t rows = 1 + random() % 30;
    int64_t end = 0;
    for (size_t i = 0; i < rows; ++i) {
      end += static_cast<int64_t>(random() % 20) - (round % 2 == 0 ? 0 : 5);
      ops.end_ns.push_back(end);
      ops.duration_ns.push_back(static_cast<int64_t>(random() % 60));
      ops.name.push_back(2);
      const bool user = round % 3 == 0 && random() % 2 == 0;
      const auto scope = user ? proto::OpScope::kUser : proto::OpScope::kFunction;
      ops.operation.push_back(static_cast<uint32_t>(scope) | static_cast<uint32_t>(random() % 4)
                                                                 << 16);
    }
    const OpTree tree(ops);
    ASSERT_EQ(TotalSelf(tree), TotalBusy(tree));
    for (size_t row = 0; row < rows; ++row) {
      ASSERT_GE(tree.self_ns(row), 0);
      if (tree.parent(row) == OpTree::kNone) continue;
      ASSERT_GE(tree.start(row), tree.start(tree.parent(row)));
      ASSERT_LE(tree.end(row), tree.end(tree.parent(row)));
    }
  }
}

TEST(KindOfName, KnowsTheTrainingLoop) {
  EXPECT_EQ(KindOfName("Optimizer.step#Adam.step"), NameKind::kOptimizerStep);
  EXPECT_EQ(KindOfName("Optimizer.zero_grad#Adam.zero_grad"), NameKind::kZeroGrad);
  EXPECT_EQ(KindOfName("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
            NameKind::kLoaderNext);
  EXPECT_EQ(KindOfName("ProfilerStep#12"), NameKind::kAnnotation);
  EXPECT_EQ(KindOfName("autograd::engine::evaluate_function: AddBackward0"), NameKind::kAutograd);
  EXPECT_EQ(KindOfName("aten::add"), NameKind::kPlain);
}

}  // namespace
}  // namespace gpuprof::analysis
