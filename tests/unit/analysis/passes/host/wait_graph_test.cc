// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/host/wait_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

ContendedWait Wait(int64_t start, int64_t end, int32_t waiter, int32_t holder,
                   bool incomplete = false) {
  ContendedWait wait;
  wait.start_ns = start;
  wait.end_ns = end;
  wait.waiter = waiter;
  wait.holder = holder;
  wait.incomplete = incomplete;
  return wait;
}

TEST(WaitGraphTest, BlameGoesToTheEndOfThePath) {
  // 3 waits for 2 all the time; 2 itself waits for 1 in the middle.
  const auto blame = BlameHolders({Wait(0, 100, 3, 2), Wait(40, 60, 2, 1)});
  ASSERT_EQ(blame.size(), 2u);
  EXPECT_EQ(blame.at(2).direct_ns, 100);
  EXPECT_EQ(blame.at(2).root_ns, 80);
  EXPECT_EQ(blame.at(1).direct_ns, 20);
  EXPECT_EQ(blame.at(1).root_ns, 40);  // two threads stood still for it
  EXPECT_EQ(blame.at(2).waiters, (std::set<int32_t>{3}));
}

TEST(WaitGraphTest, NobodyIsToBlameWithinACircleOrBehindAnUnknownHolder) {
  const auto blame =
      BlameHolders({Wait(0, 50, 1, 2), Wait(10, 50, 2, 1), Wait(20, 50, 3, 1), Wait(60, 70, 4, 0)});
  EXPECT_EQ(blame.at(2).root_ns, 10);  // until the circle closed
  EXPECT_EQ(blame.at(1).root_ns, 0);
  EXPECT_EQ(blame.at(1).direct_ns, 70);
  EXPECT_EQ(blame.count(0), 0u);
}

TEST(WaitGraphTest, ChainsAgreeWithTheirDefinitionAtEachMoment) {
  // Against a walk along the path from every waiter at every tick.
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<ContendedWait> waits;
    for (int32_t thread = 1; thread <= 6; ++thread) {
      for (int64_t at = random() % 10; at < 90;) {
        const int64_t end = at + 1 + static_cast<int64_t>(random() % 15);
        const auto holder = static_cast<int32_t>(random() % 8);
        if (holder != thread) waits.push_back(Wait(at, end, thread, holder));
        at = end + static_cast<int64_t>(random() % 10);
      }
    }
    std::stable_sort(waits.begin(), waits.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    std::map<int32_t, int64_t> expected;
    for (int64_t now = 0; now < 120; ++now) {
      std::map<int32_t, int32_t> holder_of;
      for (const ContendedWait& wait : waits) {
        if (wait.start_ns <= now && now < wait.end_ns) holder_of[wait.waiter] = wait.holder;
      }
      for (const auto& [waiter, holder] : holder_of) {
        int32_t at = holder;
        for (int steps = 0; steps < 10 && at != 0 && holder_of.count(at) != 0; ++steps)
          at = holder_of[at];
        if (at != 0 && holder_of.count(at) == 0) ++expected[at];
      }
    }
    const auto blame = BlameHolders(waits);
    for (int32_t thread = 1; thread <= 7; ++thread) {
      const int64_t root = blame.count(thread) != 0 ? blame.at(thread).root_ns : 0;
      EXPECT_EQ(root, expected[thread]) << "thread " << thread << ", round " << round;
    }
  }
}

TEST(WaitGraphTest, Circles) {
  const std::vector<ContendedWait> waits = {
      Wait(0, 5, 1, 2),  // long over
      Wait(10, 100, 1, 2, true), Wait(20, 100, 2, 3, true),
      Wait(30, 100, 3, 1, true), Wait(40, 100, 4, 2, true),  // waits for one of them
      Wait(50, 100, 5, 4, true),                             // and one for that one
      Wait(60, 100, 6, 6, true),                             // its own lock, once more
      Wait(70, 100, 7, 8, true)};                            // 8 is at work
  const std::vector<WaitCircle> circles = FindCircles(waits);
  ASSERT_EQ(circles.size(), 2u);
  EXPECT_EQ(circles[0].waits, (std::vector<size_t>{1, 2, 3}));
  EXPECT_EQ(circles[0].start_ns, 30);
  EXPECT_EQ(circles[0].end_ns, 100);
  EXPECT_EQ(circles[0].blocked, (std::set<int32_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(circles[1].waits, (std::vector<size_t>{6}));
  EXPECT_EQ(circles[1].blocked, (std::set<int32_t>{6}));
  EXPECT_TRUE(FindCircles({Wait(0, 9, 1, 2, true), Wait(0, 9, 2, 3, true)}).empty());
  EXPECT_TRUE(FindCircles({Wait(0, 9, 1, 2, true), Wait(20, 30, 2, 1, true)}).empty())
      << "never at one time";
}

TEST(WaitGraphTest, JoinsWaitForAThreadAndLimitedWaitsEndByThemselves) {
  using proto::WaitKind;
  test::ProcessBuilder builder(1);
  constexpr uint8_t kOpen = proto::kFlagIncomplete;
  constexpr uint8_t kLimited = proto::kFlagIncomplete | proto::kFlagLimited;
  // 1 holds a lock and joins 2, which waits for it.
  builder.Thread(1).Wait(WaitKind::kJoin, 0x100, 0, 10, 100, kOpen, 0, 2);
  builder.Thread(2).Wait(WaitKind::kMutex, 0x200, 0, 20, 100, kOpen, 0, 1);
  // 3 and 4 wait for each other, one of them for a while only.
  builder.Thread(3).Wait(WaitKind::kMutex, 0x300, 0, 10, 100, kLimited, 0, 4);
  builder.Thread(4).Wait(WaitKind::kMutex, 0x400, 0, 10, 100, kOpen, 0, 3);
  // Over.
  builder.Thread(5).Wait(WaitKind::kMutex, 0x500, 0, 10, 100, 0, 0, 5);
  const auto trace = test::MakeTrace({&builder});
  const Process& process = trace.processes[0];
  const std::vector<ContendedWait> waits = WaitsWithoutEnd(process);
  EXPECT_EQ(waits.size(), 3u);
  const std::vector<WaitCircle> circles = FindCircles(waits);
  ASSERT_EQ(circles.size(), 1u);
  EXPECT_EQ(circles[0].blocked, (std::set<int32_t>{1, 2}));
  EXPECT_EQ(circles[0].start_ns, 20);
}

TEST(WaitGraphTest, MostWaitersInEachInterval) {
  const std::vector<ContendedWait> waits = {Wait(0, 10, 1, 9), Wait(5, 35, 2, 9), Wait(8, 9, 3, 9),
                                            Wait(20, 30, 4, 9)};
  EXPECT_EQ(MostWaiters(waits, 0, 10, 5), (std::vector<uint32_t>{3, 1, 2, 1, 0}));
  EXPECT_EQ(MostWaiters({}, 0, 10, 2), (std::vector<uint32_t>{0, 0}));
}

}  // namespace
}  // namespace gpuprof::analysis
