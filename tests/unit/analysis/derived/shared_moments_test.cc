// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/shared_moments.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using Moments = std::vector<CollectiveMoment>;

// A rank that is in a collective every 10 ms, for so long.
Moments Rank(int count, int64_t first, int64_t length, uint64_t bytes = 400) {
  Moments moments;
  for (int i = 0; i < count; ++i) {
    const int64_t start = first + i * 10 * kMs;
    moments.push_back({start, start + length, CollectiveKind::kAllReduce, bytes});
  }
  return moments;
}

TEST(CanBeShared, RanksThatMeet) {
  EXPECT_TRUE(CanBeShared(Rank(40, 0, 5 * kMs), Rank(40, 4 * kMs, kMs)));
  EXPECT_TRUE(CanBeShared({}, {}));
}

TEST(CanBeShared, ClocksMayBeApart) {
  EXPECT_TRUE(CanBeShared(Rank(40, 0, kMs), Rank(40, 900 * kMs, kMs)));
}

TEST(CanBeShared, NobodyEndsBeforeAllCame) {
  Moments late = Rank(40, 0, kMs);
  // Whatever the clocks are apart, it comes to every second one after the other rank has left.
  for (size_t i = 0; i < late.size(); i += 2) {
    late[i].start_ns += 5 * kMs;
    *late[i].end_ns += 5 * kMs;
  }
  EXPECT_FALSE(CanBeShared(Rank(40, 0, kMs), late));
  for (CollectiveMoment& moment : late) moment.kind = CollectiveKind::kBroadcast;
  Moments root = Rank(40, 0, kMs);
  for (CollectiveMoment& moment : root) moment.kind = CollectiveKind::kBroadcast;
  EXPECT_TRUE(CanBeShared(root, late)) << "the sender of a broadcast may leave at once";
}

TEST(CanBeShared, OneWrongTimeIsAnOutlier) {
  Moments late = Rank(30, 0, kMs);
  late[7].start_ns += 5 * kMs;
  *late[7].end_ns += 5 * kMs;
  EXPECT_TRUE(CanBeShared(Rank(30, 0, kMs), late));
}

TEST(CanBeShared, ClocksDriftInALongRecording) {
  Moments drifts = Rank(4000, 0, kMs);
  for (size_t i = 0; i < drifts.size(); ++i) {
    drifts[i].start_ns += static_cast<int64_t>(i) * kMs / 500;  // 8 ms in the end
    *drifts[i].end_ns += static_cast<int64_t>(i) * kMs / 500;
  }
  EXPECT_TRUE(CanBeShared(Rank(4000, 0, kMs), drifts));
}

TEST(CanBeShared, SizesAndKindsTell) {
  EXPECT_FALSE(CanBeShared(Rank(4, 0, kMs), Rank(4, 0, kMs, 800)));
  Moments barriers = Rank(4, 0, kMs);
  for (CollectiveMoment& moment : barriers) moment.kind = CollectiveKind::kBarrier;
  EXPECT_FALSE(CanBeShared(Rank(4, 0, kMs), barriers));
}

TEST(CanBeShared, RecordingsMayBeginAtDifferentCollectives) {
  Moments more = Rank(42, 0, kMs);
  more.front().bytes = 99;
  EXPECT_TRUE(CanBeShared(more, Rank(40, 20 * kMs, kMs)));
  EXPECT_FALSE(CanBeShared(Rank(20, 0, kMs), Rank(40, 0, kMs)));
  EXPECT_FALSE(CanBeShared({}, Rank(3, 0, kMs)));
}

}  // namespace
}  // namespace gpuprof::analysis
