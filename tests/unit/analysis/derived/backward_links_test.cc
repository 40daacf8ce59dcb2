// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Arrows from the forward pass to the backward pass.

#include "analysis/derived/backward_links.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis::test {
namespace {

// An operation of [start, end) with autograd's number; -1: none.
void AddOp(int64_t start, int64_t end, int64_t sequence, proto::OpScope scope, OpTable* ops) {
  ops->end_ns.push_back(end);
  ops->duration_ns.push_back(end - start);
  ops->name.push_back(0);
  ops->operation.push_back(static_cast<uint32_t>(scope));
  ops->sequence.push_back(static_cast<uint64_t>(sequence + 1));
}

void Forward(int64_t start, int64_t end, int64_t sequence, OpTable* ops) {
  AddOp(start, end, sequence, proto::OpScope::kFunction, ops);
}
void Backward(int64_t start, int64_t end, int64_t sequence, OpTable* ops) {
  AddOp(start, end, sequence, proto::OpScope::kBackward, ops);
}

TEST(BackwardLinks, TheLastToBeginAndTheFirstToEndAreJoined) {
  Process process;
  process.tracks.resize(2);
  OpTable& forward = process.tracks[0].op;
  Forward(3, 8, 5, &forward);   // inner
  Forward(1, 10, 5, &forward);  // outer
  Forward(12, 14, 0, &forward);
  Forward(15, 16, -1, &forward);
  OpTable& backward = process.tracks[1].op;
  Backward(22, 27, 5, &backward);
  Backward(20, 29, 5, &backward);
  Backward(31, 33, 0, &backward);
  Backward(34, 35, 7, &backward);
  const BackwardLinks links(process);
  EXPECT_EQ(links.Of(0, 0), 1u);
  EXPECT_EQ(links.Of(0, 1), 0u);
  EXPECT_EQ(links.Of(0, 2), 2u);
  EXPECT_EQ(links.Of(0, 3), 0u);
  EXPECT_EQ(links.Of(1, 0), 1u);
  EXPECT_EQ(links.Of(1, 1), 0u);
  EXPECT_EQ(links.Of(1, 2), 2u);
  EXPECT_EQ(links.Of(1, 3), 0u);
}

TEST(BackwardLinks, ForwardThreadsWithOneNumberEachHaveAnArrow) {
  Process process;
  process.tracks.resize(3);
  Forward(1, 2, 5, &process.tracks[0].op);
  Forward(3, 4, 5, &process.tracks[1].op);
  Backward(10, 11, 5, &process.tracks[2].op);
  Backward(12, 13, 5, &process.tracks[2].op);
  Backward(14, 15, 5, &process.tracks[2].op);
  const BackwardLinks links(process);
  EXPECT_EQ(links.Of(1, 0), links.Of(2, 0));
  EXPECT_EQ(links.Of(0, 0), links.Of(2, 1));
  EXPECT_NE(links.Of(0, 0), links.Of(1, 0));
  EXPECT_EQ(links.Of(2, 2), 0u);
}

TEST(BackwardLinks, WithoutNumbersThereIsNoArrow) {
  Process process;
  process.tracks.resize(1);
  process.tracks[0].op.end_ns.push_back(1);
  EXPECT_EQ(BackwardLinks(process).Of(0, 0), 0u);
}

}  // namespace
}  // namespace gpuprof::analysis::test
