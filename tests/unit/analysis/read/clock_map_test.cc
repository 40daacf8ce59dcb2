// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ticks to nanoseconds: exact between snapshots, in order everywhere, bounded for any input.

#include "analysis/read/clock_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

using Snapshots = std::vector<proto::ClockSnapshot>;

proto::ClockSnapshot At(uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns,
                        uint32_t bracket = 50) {
  proto::ClockSnapshot snapshot;
  snapshot.set_ticks(ticks);
  snapshot.set_monotonic_ns(monotonic_ns);
  snapshot.set_realtime_ns(realtime_ns);
  snapshot.set_bracket_ticks(bracket);
  return snapshot;
}

ClockMap Build(const Snapshots& snapshots, uint64_t ticks_per_second = 2'000'000'000) {
  ClockMap map;
  map.Build(snapshots, proto::ClockKind::kTsc, ticks_per_second, 0, 0);
  return map;
}

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kDay = 1'700'000'000 * kSecond;  // a wall clock reading

TEST(ClockMap, FollowsEachLineAndMeetsEverySnapshot) {
  // 2 GHz for a second, then 2.5 GHz for two.
  const ClockMap map =
      Build({At(1000, 5 * kSecond, kDay), At(2'000'001'000, 6 * kSecond, kDay + kSecond),
             At(7'000'001'000, 8 * kSecond, kDay + 3 * kSecond)});
  EXPECT_EQ(map.fit(), ClockMap::Fit::kSnapshots);
  EXPECT_EQ(map.Convert(1000), static_cast<int64_t>(5 * kSecond));
  EXPECT_EQ(map.Convert(1'000'001'000), static_cast<int64_t>(5 * kSecond + kSecond / 2));
  EXPECT_EQ(map.Convert(2'000'001'000), static_cast<int64_t>(6 * kSecond));
  EXPECT_NEAR(static_cast<double>(map.Convert(4'500'001'000)), 7e9, 1.0);
  // Beyond both ends the nearest line goes on.
  EXPECT_EQ(map.Convert(0), static_cast<int64_t>(5 * kSecond - 500));
  EXPECT_NEAR(static_cast<double>(map.Convert(9'500'001'000)), 9e9, 1.0);
}

TEST(ClockMap, WallClockStepBendsNoInterval) {
  const uint64_t hour = 3600 * kSecond;
  const ClockMap map = Build({At(0, kSecond, kDay), At(2'000'000'000, 2 * kSecond, kDay + kSecond),
                              At(4'000'000'000, 3 * kSecond, kDay + 2 * kSecond - hour)});
  EXPECT_EQ(map.Convert(3'000'000'000) - map.Convert(1'000'000'000), static_cast<int64_t>(kSecond));
  EXPECT_EQ(map.realtime_offset(), static_cast<int64_t>(kDay - kSecond));
  EXPECT_EQ(map.realtime_step_ns(), -static_cast<int64_t>(hour));
}

TEST(ClockMap, OneSnapshotUsesTheRecordersRate) {
  const ClockMap map = Build({At(500, 10'000, kDay)}, 4'000'000'000);
  EXPECT_EQ(map.fit(), ClockMap::Fit::kRate);
  EXPECT_EQ(map.Convert(4500), 11'000);
}

TEST(ClockMap, SnapshotsTooCloseForARateUseTheRecordersToo) {
  // A read error of 100 ns over a microsecond would be 10 %.
  const ClockMap map = Build({At(0, 0, kDay), At(2200, 1000, kDay + 1000)}, 2'000'000'000);
  EXPECT_EQ(map.fit(), ClockMap::Fit::kRate);
  EXPECT_EQ(map.Convert(2'000'000'000), static_cast<int64_t>(kSecond));
}

TEST(ClockMap, MonotonicTicksAreNanoseconds) {
  ClockMap map;
  map.Build({At(1000, 1000, kDay), At(1000 + kSecond, 1000 + kSecond, kDay + kSecond)},
            proto::ClockKind::kMonotonic, 0, 0, 0);
  EXPECT_EQ(map.Convert(123'456'789), 123'456'789);
}

TEST(ClockMap, WithoutSnapshotsTheAnchorIsUsed) {
  ClockMap map;
  map.Build({}, proto::ClockKind::kTsc, 2'000'000'000, 7000, kDay);
  EXPECT_EQ(map.fit(), ClockMap::Fit::kGuess);
  EXPECT_EQ(map.Convert(7000), static_cast<int64_t>(kDay));
  EXPECT_EQ(map.Convert(9000), static_cast<int64_t>(kDay + 1000));
}

TEST(ClockMap, InterruptedReadIsLeftOut) {
  Snapshots snapshots;
  for (uint64_t i = 0; i <= 10; ++i) {
    // The reader was preempted for 8 ms in the fifth.
    const uint64_t late = i == 5 ? 8'000'000 : 0;
    snapshots.push_back(At(i * 2'000'000'000, i * kSecond + late, kDay + i * kSecond + late,
                           i == 5 ? 16'000'000 : 60));
  }
  const ClockMap map = Build(snapshots);
  EXPECT_EQ(map.Convert(10'000'000'000), static_cast<int64_t>(5 * kSecond));
  EXPECT_LT(map.residual_ns(), 1.0);
}

TEST(ClockMap, ResidualIsTheDistanceFromTheLineThroughTheNeighbours) {
  const ClockMap map = Build({At(0, 0, kDay), At(2'000'000'000, kSecond + 300, kDay + kSecond),
                              At(4'000'000'000, 2 * kSecond, kDay + 2 * kSecond)});
  EXPECT_NEAR(map.residual_ns(), 300.0, 0.5);
}

TEST(ClockMap, ShiftMovesEverything) {
  ClockMap map = Build({At(0, 0, kDay), At(2'000'000'000, kSecond, kDay + kSecond)});
  map.SetShift(map.realtime_offset() - static_cast<int64_t>(kDay));
  EXPECT_EQ(map.Convert(0), 0);
  map.SetShift(-42);
  EXPECT_EQ(map.Convert(0), -42);
}

TEST(ClockMap, KeepsOrderAcrossNoisySnapshots) {
  std::mt19937_64 random(7);
  Snapshots snapshots;
  for (uint64_t i = 0; i < 60; ++i) {
    const uint64_t noise = random() % 400;
    snapshots.push_back(
        At(i * 2'100'000'000 + random() % 100, i * kSecond + noise, kDay + i * kSecond));
  }
  const ClockMap map = Build(snapshots);
  ClockMap::Cursor cursor(map);
  int64_t last = map.Convert(0);
  for (uint64_t ticks = 0; ticks < 61 * uint64_t{2'100'000'000}; ticks += 1'234'567) {
    const int64_t time = cursor.Convert(ticks);
    ASSERT_GE(time, last);
    ASSERT_EQ(time, map.Convert(ticks)) << "a cursor and a fresh one must agree";
    last = time;
  }
}

TEST(ClockMap, AnyNumbersStayWithinBounds) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    Snapshots snapshots;
    for (uint64_t i = 0; i < random() % 5; ++i) {
      snapshots.push_back(At(random() >> random() % 64, random() >> random() % 64,
                             random() >> random() % 64, static_cast<uint32_t>(random())));
    }
    ClockMap map;
    map.Build(snapshots, static_cast<proto::ClockKind>(random() % 4), random() >> random() % 64,
              random(), random());
    map.SetShift(static_cast<int64_t>(random() % (uint64_t{1} << 62)) - ClockMap::kTimeLimit);
    ClockMap::Cursor cursor(map);
    for (int i = 0; i < 16; ++i) {
      const int64_t time = cursor.Convert(random() >> random() % 64);
      ASSERT_LE(time, ClockMap::kTimeLimit);
      ASSERT_GE(time, -ClockMap::kTimeLimit);
    }
  }
}

TEST(ClockMap, ClocksOfAnyYearAreClocks) {
  constexpr int64_t kYear = 365 * 24 * 3600 * static_cast<int64_t>(kSecond);
  // A library that fakes the time moves the monotonic clock too: before the start of the machine.
  for (const int64_t years : {-6, 0, 10}) {
    for (const int64_t realtime : {int64_t{0}, 50 * kYear, 106 * kYear}) {
      const int64_t monotonic = years * kYear + 5;
      const ClockMap map =
          Build({At(0, static_cast<uint64_t>(monotonic), static_cast<uint64_t>(realtime)),
                 At(2'000'000'000, static_cast<uint64_t>(monotonic) + kSecond,
                    static_cast<uint64_t>(realtime) + kSecond)});
      EXPECT_EQ(map.fit(), ClockMap::Fit::kSnapshots) << years;
      EXPECT_EQ(map.Convert(2'000'000'000) - map.Convert(0), static_cast<int64_t>(kSecond));
      EXPECT_EQ(map.Convert(0) + map.realtime_offset(), realtime);
    }
  }
}

}  // namespace
}  // namespace gpuprof::analysis
