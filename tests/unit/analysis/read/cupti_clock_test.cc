// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/read/cupti_clock.h"

#include <gtest/gtest.h>

namespace gpuprof::analysis {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr uint64_t kWall = 1'700'000'000'000'000'000;

CuptiReading At(int64_t seconds, int64_t ahead_ns) {
  const int64_t monotonic = 100 * kSecond + seconds * kSecond;
  return {kWall + static_cast<uint64_t>(seconds * kSecond + ahead_ns), monotonic};
}

// What CUPTI's clock showed `ns` after the first reading when it was `ahead_ns` ahead.
int64_t Convert(const CuptiClock& clock, int64_t ns, int64_t ahead_ns) {
  ClockMap map;
  map.Build(clock.points);
  return map.Convert(kWall + static_cast<uint64_t>(ns + ahead_ns)) - 100 * kSecond;
}

TEST(CuptiClock, OneReadingIsALineOfTrueNanoseconds) {
  const CuptiClock clock = CuptiClockOf({At(0, 0)});
  EXPECT_EQ(clock.readings, 1u);
  EXPECT_EQ(Convert(clock, 5 * kSecond, 0), 5 * kSecond);
  EXPECT_EQ(Convert(clock, -kSecond, 0), -kSecond);
  EXPECT_EQ(CuptiClockOf({}).points.size(), 0u);
}

TEST(CuptiClock, ASlewedClockIsFollowedFromReadingToReading) {
  // 400 millionths fast, then 200 slow.
  const CuptiClock clock =
      CuptiClockOf({At(0, 0), At(1, 400'000), At(2, 800'000), At(3, 600'000), At(4, 400'000)});
  EXPECT_EQ(clock.step_ns, 0);
  EXPECT_NEAR(Convert(clock, kSecond / 2, 200'000), kSecond / 2, 2);
  EXPECT_NEAR(Convert(clock, kSecond * 7 / 2, 500'000), kSecond * 7 / 2, 2);
  EXPECT_NEAR(clock.residual_ns, 300'000, 1000) << "where it changed its pace";
}

TEST(CuptiClock, AStepForwardMovesWhatIsAfterIt) {
  for (const int64_t step : {int64_t{300'000'000}, 5 * kSecond, 3600 * kSecond}) {
    const CuptiClock clock = CuptiClockOf({At(0, 0), At(1, 0), At(2, step), At(3, step)});
    EXPECT_EQ(clock.step_ns, step);
    EXPECT_FALSE(clock.is_lost);
    EXPECT_EQ(Convert(clock, kSecond * 9 / 10, 0), kSecond * 9 / 10);
    EXPECT_EQ(Convert(clock, kSecond * 5 / 2, step), kSecond * 5 / 2);
    EXPECT_EQ(Convert(clock, 10 * kSecond, step), 10 * kSecond);
    EXPECT_EQ(clock.residual_ns, 0);
  }
}

TEST(CuptiClock, OfALongStepNoTimeIsAmbiguous) {
  const CuptiClock clock = CuptiClockOf({At(0, 0), At(1, 0), At(2, 5 * kSecond)});
  EXPECT_EQ(Convert(clock, kSecond * 19 / 10, 0), kSecond * 19 / 10) << "not set yet";
  EXPECT_EQ(Convert(clock, kSecond * 11 / 10, 5 * kSecond), kSecond * 11 / 10) << "set already";
}

TEST(CuptiClock, AShortStepBackIsOffByItAtMost) {
  const int64_t step = -200'000'000;
  const CuptiClock clock = CuptiClockOf({At(0, 0), At(1, 0), At(2, step), At(3, step)});
  EXPECT_EQ(clock.step_ns, step);
  EXPECT_EQ(Convert(clock, kSecond / 2, 0), kSecond / 2);
  EXPECT_EQ(Convert(clock, kSecond * 5 / 2, step), kSecond * 5 / 2);
  for (int64_t tenth = 10; tenth <= 20; ++tenth) {
    const int64_t time = tenth * kSecond / 10;
    EXPECT_LE(std::abs(Convert(clock, time, 0) - time), -step) << tenth;
    EXPECT_LE(std::abs(Convert(clock, time, step) - time), -step) << tenth;
  }
}

TEST(CuptiClock, ALongStepBackIsSaid) {
  const CuptiClock clock =
      CuptiClockOf({At(0, 0), At(1, 0), At(2, -5 * kSecond), At(3, -5 * kSecond)});
  EXPECT_TRUE(clock.is_lost);
  EXPECT_EQ(Convert(clock, kSecond / 2, 0), kSecond / 2);
}

TEST(CuptiClock, TakesAnyReadings) {
  const CuptiClock clock = CuptiClockOf({{~uint64_t{0}, 5},
                                         {0, 0},
                                         {0, 0},
                                         {kWall, ClockMap::kTimeLimit},
                                         {kWall + 1, -ClockMap::kTimeLimit},
                                         {1, 7}});
  ClockMap map;
  map.Build(clock.points);
  for (const uint64_t ticks : {uint64_t{0}, kWall, ~uint64_t{0}}) {
    EXPECT_LE(std::abs(map.Convert(ticks)), ClockMap::kTimeLimit);
  }
}

}  // namespace
}  // namespace gpuprof::analysis
