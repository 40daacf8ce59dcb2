// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Questions about what lies around a row: the right row, and little work however deep the tree is.

#include "analysis/base/ancestors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

// Rows whose parents come before them. Counts the steps outwards.
struct CountedTree {
  std::vector<uint32_t> parents;
  mutable uint64_t steps = 0;

  size_t rows() const { return parents.size(); }
  static uint32_t in_order(size_t i) { return static_cast<uint32_t>(i); }
  uint32_t parent(uint32_t row) const {
    ++steps;
    return parents[row];
  }
};

CountedTree Chain(uint32_t rows) {
  CountedTree tree;
  tree.parents.push_back(kNoAncestor);
  for (uint32_t row = 1; row < rows; ++row) tree.parents.push_back(row - 1);
  return tree;
}

TEST(NearestAncestor, ClimbsTheWholeWayForNoQuestion) {
  constexpr uint32_t kRows = 100'000, kQuestions = 10'000, kMostSteps = 80;
  const CountedTree tree = Chain(kRows);
  NearestAncestor nearest;
  uint64_t looks = 0;
  for (uint32_t i = 0; i < kQuestions; ++i) {
    const uint32_t wanted = i * 7919 % kRows;
    EXPECT_EQ(nearest.Find(tree, kRows - 1, [&](uint32_t row) { return ++looks, row <= wanted; }),
              wanted);
  }
  // A climb all the way would take 50,000 steps for a question.
  EXPECT_LE(tree.steps, kRows + uint64_t{kQuestions} * kMostSteps);
  EXPECT_LE(looks, uint64_t{kQuestions} * 2 * kMostSteps);
}

TEST(NearestAncestor, FindsWhatAClimbFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    CountedTree tree;
    for (uint32_t row = 0; row < 2'000; ++row) {
      // Mostly deep, with new roots and rows far out.
      const uint32_t kind = random() % 100;
      tree.parents.push_back(row == 0 || kind == 0 ? kNoAncestor
                             : kind < 80           ? row - 1
                                                   : static_cast<uint32_t>(random() % row));
    }
    NearestAncestor nearest;
    for (int i = 0; i < 500; ++i) {
      const auto row = static_cast<uint32_t>(random() % tree.rows());
      const auto most = static_cast<uint32_t>(random() % tree.rows());
      const auto holds = [&](uint32_t each) { return each < most; };
      uint32_t wanted = row;
      while (wanted != kNoAncestor && !holds(wanted)) wanted = tree.parents[wanted];
      EXPECT_EQ(nearest.Find(tree, row, holds), wanted);
    }
  }
}

TEST(InheritedValue, AsksEachRowOnce) {
  constexpr uint32_t kRows = 100'000;
  const CountedTree tree = Chain(kRows);
  InheritedValue inherited;
  uint64_t asked = 0;
  const auto own = [&](uint32_t row) { return ++asked, row == 10 ? 7u : row == 50'000 ? 8u : 0u; };
  for (uint32_t row = kRows; row-- > 0;)
    EXPECT_EQ(inherited.Find(tree, row, own), row >= 50'000 ? 8u : row >= 10 ? 7u : 0u);
  EXPECT_EQ(asked, kRows);
  EXPECT_LE(tree.steps, 3 * uint64_t{kRows});
}

}  // namespace
}  // namespace gpuprof::analysis
