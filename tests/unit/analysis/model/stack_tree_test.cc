// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/model/stack_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace gpuprof::analysis {
namespace {

TEST(StackTreeTest, EqualStacksHaveOneCanonicalId) {
  StackTree tree;
  EXPECT_TRUE(tree.Add(2, 0, 0x10));
  EXPECT_TRUE(tree.Add(3, 2, 0x20));
  EXPECT_FALSE(tree.has_equal());
  // The same again, as a writer gives it that has forgotten the first.
  EXPECT_TRUE(tree.Add(4, 0, 0x10));
  EXPECT_TRUE(tree.Add(5, 4, 0x20));
  EXPECT_TRUE(tree.Add(6, 5, 0x30));
  EXPECT_TRUE(tree.has_equal());
  EXPECT_EQ(tree.Canonical(4), 2u);
  EXPECT_EQ(tree.Canonical(5), 3u);
  EXPECT_EQ(tree.Canonical(6), 6u);
  StackNode node;
  ASSERT_TRUE(tree.Find(6, &node));
  EXPECT_EQ(node.parent, 3u) << "the way to the root leads over canonical nodes";
  EXPECT_EQ(node.pc, 0x30u);
  // What is no node stands for itself.
  for (const uint32_t id : {0u, 1u, 7u, ~0u}) {
    EXPECT_EQ(tree.Canonical(id), id);
    EXPECT_FALSE(tree.Find(id, &node));
  }
}

TEST(StackTreeTest, ChildrenAreFoundOrMade) {
  StackTree tree;
  EXPECT_EQ(tree.Child(0, 0x10), 2u);
  EXPECT_EQ(tree.Child(0, 0x10), 2u);
  tree.Add(7, 2, 0x20);
  EXPECT_EQ(tree.Child(2, 0x20), 7u);
  EXPECT_EQ(tree.Child(7, 0x20), 8u);
  EXPECT_FALSE(tree.has_equal());
  StackNode node;
  ASSERT_TRUE(tree.Find(8, &node));
  EXPECT_EQ(node.parent, 7u);
  EXPECT_EQ(node.pc, 0x20u);
  tree.Add(UINT32_MAX, 0, 0x30);
  EXPECT_EQ(tree.Child(0, 0x30), UINT32_MAX);
  EXPECT_EQ(tree.Child(0, 0x40), 0u) << "no id is left";
}

TEST(StackTreeTest, ParentsThatAreNotThereAndIdsGivenTwice) {
  StackTree tree;
  EXPECT_FALSE(tree.Add(10, 9, 0x10));
  EXPECT_FALSE(tree.Add(11, 11, 0x20)) << "its own parent";
  EXPECT_TRUE(tree.Add(10, 0, 0x99)) << "stays what it is";
  StackNode node;
  ASSERT_TRUE(tree.Find(10, &node));
  EXPECT_EQ(node.parent, 0u);
  EXPECT_EQ(node.pc, 0x10u);
  EXPECT_EQ(tree.size(), 2u);
}

TEST(StackTreeTest, AgreesWithAMapOfWholeStacks) {
  std::mt19937 random(5);
  StackTree tree;
  std::map<uint32_t, std::vector<uint64_t>> stack_of;  // by id, outermost first
  std::map<std::vector<uint64_t>, uint32_t> first_of;
  uint32_t next = 2;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 50 == 0) next += random() % 1000;  // ids of another writer, or lost ones
    uint32_t parent = 0;
    if (!stack_of.empty() && random() % 10 != 0) {
      auto above = stack_of.lower_bound(next - std::min<uint32_t>(next, random() % 300));
      if (above != stack_of.end() && above->second.size() < 30) parent = above->first;
    }
    std::vector<uint64_t> stack = parent == 0 ? std::vector<uint64_t>() : stack_of[parent];
    stack.push_back(random() % 4);
    ASSERT_TRUE(tree.Add(next, parent, stack.back()));
    stack_of[next] = stack;
    first_of.emplace(stack, next);
    ++next;
  }
  for (const auto& [id, stack] : stack_of) {
    ASSERT_EQ(tree.Canonical(id), first_of[stack]);
    std::vector<uint64_t> walked;
    StackNode node;
    for (uint32_t at = id; at != 0 && tree.Find(at, &node); at = node.parent)
      walked.insert(walked.begin(), node.pc);
    ASSERT_EQ(walked, stack);
  }
}

}  // namespace
}  // namespace gpuprof::analysis
