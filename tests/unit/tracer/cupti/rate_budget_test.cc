// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is kept follows the rate, tells how much it stands for, and is chosen launch by launch.

#include "tracer/cupti/rate_budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint64_t kStart = 1'750'000'000'000'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

struct Outcome {
  uint64_t kept = 0;
  uint64_t estimate = 0;  // the sum of what the kept stand for
};

// `rate` records a second for `seconds`, told from `from` on; N may change every 1000 records.
Outcome Feed(RateBudget* budget, RateBudget::Class of, uint64_t from, uint64_t rate, double seconds,
             uint32_t* correlation) {
  Outcome outcome;
  const auto count = static_cast<uint64_t>(static_cast<double>(rate) * seconds);
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 1000 == 0 && budget->WantsChange()) budget->Adapt();
    if (!budget->Keeps(of, ++*correlation, from + i * kSecond / rate)) continue;
    ++outcome.kept;
    outcome.estimate += budget->one_in(of);
  }
  return outcome;
}

TEST(RateBudget, WithoutALimitKeepsAll) {
  RateBudget budget;
  uint32_t correlation = 0;
  EXPECT_EQ(Feed(&budget, RateBudget::kCalls, kStart, 1'000'000, 1, &correlation).kept, 1'000'000u);
  EXPECT_FALSE(budget.is_limited());
  EXPECT_FALSE(budget.WantsChange());
  EXPECT_EQ(budget.one_in(RateBudget::kCalls), 1u);
}

TEST(RateBudget, BelowTheLimitKeepsAll) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  EXPECT_EQ(Feed(&budget, RateBudget::kCalls, kStart, 9'000, 5, &correlation).kept, 45'000u);
  EXPECT_EQ(budget.left_out(RateBudget::kCalls), 0u);
  EXPECT_EQ(budget.most_one_in(RateBudget::kCalls), 1u);
}

// Ranks of a job, and runs of a program: the mean of their estimates is the truth.
TEST(RateBudget, EverySeedChoosesOthers) {
  constexpr uint32_t kRuns = 64;
  std::set<std::vector<uint32_t>> choices;
  uint64_t kept = 0;
  for (uint32_t seed = 1; seed <= kRuns; ++seed) {
    RateBudget budget;
    budget.SetSeed(seed);
    budget.SetLimit(RateBudget::kCalls, 1'000);
    uint32_t warm = 0;
    Feed(&budget, RateBudget::kCalls, kStart, 8'000, 1, &warm);
    ASSERT_EQ(budget.one_in(RateBudget::kCalls), 8u);
    std::vector<uint32_t> chosen;
    for (uint32_t id = warm + 1; id <= warm + 800; ++id) {
      if (budget.Keeps(RateBudget::kCalls, id, kStart + kSecond)) chosen.push_back(id);
    }
    kept += chosen.size();
    choices.insert(chosen);
  }
  EXPECT_EQ(choices.size(), kRuns);
  // Four standard deviations of 64 * 800 draws of one in 8.
  EXPECT_NEAR(static_cast<double>(kept), kRuns * 100.0, 4 * std::sqrt(kRuns * 800 * 7.0 / 64));
}

TEST(RateBudget, AboveItKeepsSoManyAndTellsHowManyThereWere) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kCalls, kStart, 300'000, 1, &correlation);
  const uint64_t before = budget.left_out(RateBudget::kCalls);
  const Outcome outcome =
      Feed(&budget, RateBudget::kCalls, kStart + kSecond, 300'000, 4, &correlation);
  EXPECT_EQ(budget.one_in(RateBudget::kCalls), 32u);
  EXPECT_GT(outcome.kept, 4 * 9'000u);
  EXPECT_LT(outcome.kept, 4 * 10'000u);
  EXPECT_EQ(budget.left_out(RateBudget::kCalls) - before + outcome.kept, 1'200'000u);
  // Five standard deviations of a choice of one in 32.
  EXPECT_NEAR(static_cast<double>(outcome.estimate), 1.2e6, 5 * std::sqrt(1.2e6 * 31));
}

TEST(RateBudget, EndsABurstBeforeItsWindowEnds) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  const Outcome outcome = Feed(&budget, RateBudget::kCalls, kStart, 10'000'000, 0.2, &correlation);
  EXPECT_LT(outcome.kept, 30'000u);
  EXPECT_NEAR(static_cast<double>(outcome.estimate), 2e6, 0.2e6);
}

TEST(RateBudget, GoesBackWhenTheRateDoes) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kCalls, kStart, 1'000'000, 1, &correlation);
  EXPECT_EQ(budget.one_in(RateBudget::kCalls), 128u);
  Feed(&budget, RateBudget::kCalls, kStart + kSecond, 5'000, 2, &correlation);
  EXPECT_EQ(budget.one_in(RateBudget::kCalls), 128u) << "not yet";
  Feed(&budget, RateBudget::kCalls, kStart + 3 * kSecond, 5'000, 4, &correlation);
  EXPECT_EQ(budget.one_in(RateBudget::kCalls), 1u);
  EXPECT_EQ(budget.most_one_in(RateBudget::kCalls), 128u);
}

TEST(RateBudget, ASecondsRecordsDeliveredAtOnceAreNoBurst) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  for (int flush = 0; flush < 5; ++flush) {
    for (uint64_t i = 0; i < 4'000; ++i) {
      const uint64_t time = kStart + static_cast<uint64_t>(flush) * kSecond / 2 + i * 125'000;
      EXPECT_TRUE(budget.Keeps(RateBudget::kCalls, ++correlation, time));
    }
    EXPECT_FALSE(budget.WantsChange());
  }
}

// Half a second at a time: a buffer of the calls, then one of their kernels.
TEST(RateBudget, WhatComesInAnotherBufferIsNotCountedTwice) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t first = 1;
  for (uint64_t flush = 0; flush < 20; ++flush, first += 2000) {
    for (int buffer = 0; buffer < 2; ++buffer) {
      for (uint32_t i = 0; i < 2000; ++i) {
        const uint64_t time = kStart + flush * kSecond / 2 + i * 250'000;
        EXPECT_TRUE(budget.Keeps(RateBudget::kCalls, first + i, time));
      }
      EXPECT_FALSE(budget.WantsChange()) << flush;
    }
  }
}

TEST(RateBudget, OneOldRecordChangesNothing) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kCalls, kStart, 300'000, 1, &correlation);
  for (const uint64_t age : {kSecond, 11 * kSecond, 100 * kSecond}) {
    budget.Keeps(RateBudget::kCalls, ++correlation, kStart + kSecond - age);
    Feed(&budget, RateBudget::kCalls, kStart + kSecond, 300'000, 0.01, &correlation);
    EXPECT_EQ(budget.one_in(RateBudget::kCalls), 32u);
  }
}

// However much comes before the next chance to adapt.
TEST(RateBudget, LargeBuffersFindTheRateInOneStep) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 1'000);
  for (uint32_t i = 0; i < 26'000; ++i)
    budget.Keeps(RateBudget::kCalls, i + 1, kStart + i * uint64_t{20'000});
  ASSERT_TRUE(budget.WantsChange());
  budget.Adapt();
  EXPECT_EQ(budget.one_in(RateBudget::kCalls), 64u);
}

TEST(RateBudget, AClockThatIsSetBackDoesNotStopIt) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kCalls, kStart, 300'000, 1, &correlation);
  Feed(&budget, RateBudget::kCalls, kStart - 3600 * kSecond, 5'000, 2, &correlation);
  EXPECT_EQ(budget.one_in(RateBudget::kCalls), 1u);
}

TEST(RateBudget, ACallAndItsWorkAreKeptTogether) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kCalls, kStart, 300'000, 1, &correlation);
  uint64_t kept = 0;
  std::set<uint32_t> calls;
  const uint32_t last = correlation + 10'000;
  for (uint32_t i = correlation + 1; i < last; ++i) {
    if (budget.Keeps(RateBudget::kCalls, i, kStart + kSecond)) calls.insert(i);
  }
  // Their work comes later, and in another order.
  for (uint32_t i = last - 1; i > correlation; --i) {
    const bool is_kept = budget.Keeps(RateBudget::kCalls, i, kStart + kSecond + 50'000'000);
    EXPECT_EQ(is_kept, calls.count(i) != 0);
    kept += is_kept ? 1 : 0;
  }
  EXPECT_GT(kept, 200u);
}

// The calls of a burst, at whatever N, and then all of their kernels at once.
TEST(RateBudget, WhatComesLateIsChosenAsItsCallWas) {
  for (const uint32_t first : {0u, UINT32_MAX - 100'000u}) {
    RateBudget budget;
    budget.SetLimit(RateBudget::kCalls, 1'000);
    std::set<uint32_t> calls;
    std::set<uint32_t> levels;
    for (uint32_t i = 1; i <= 200'000; ++i) {
      const uint64_t rate = i < 100'000 ? 400'000 : 20'000;
      if (i % 1000 == 0 && budget.WantsChange()) budget.Adapt();
      levels.insert(budget.one_in(RateBudget::kCalls));
      if (first + i != 0 &&
          budget.Keeps(RateBudget::kCalls, first + i, kStart + i * kSecond / rate))
        calls.insert(first + i);
    }
    EXPECT_GT(levels.size(), 4u);
    double estimate = 0;
    for (uint32_t i = 1; i <= 200'000; ++i) {
      if (first + i == 0) continue;
      EXPECT_EQ(budget.Keeps(RateBudget::kCalls, first + i, kStart + 2 * kSecond),
                calls.count(first + i) != 0)
          << i;
      if (calls.count(first + i) != 0) estimate += budget.one_in(RateBudget::kCalls, first + i);
    }
    EXPECT_NEAR(estimate, 2e5, 5 * std::sqrt(2e5 * *levels.rbegin()));
  }
}

TEST(RateBudget, IdsThatBeginAnewAndOneThatIsNoneDoNotStopIt) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 1'000'000'000;
  budget.Keeps(RateBudget::kCalls, correlation, kStart);
  budget.Keeps(RateBudget::kCalls, correlation + 1'500'000'000, kStart);
  Feed(&budget, RateBudget::kCalls, kStart, 300'000, 1, &correlation);
  EXPECT_LT(Feed(&budget, RateBudget::kCalls, kStart + kSecond, 300'000, 1, &correlation).kept,
            10'000u);
  correlation = 0;
  const Outcome outcome =
      Feed(&budget, RateBudget::kCalls, kStart + 2 * kSecond, 300'000, 1, &correlation);
  EXPECT_LT(outcome.kept, 11'000u);
  EXPECT_NEAR(static_cast<double>(outcome.estimate), 3e5, 5 * std::sqrt(3e5 * 31));
}

TEST(RateBudget, WhatAGreaterNKeepsASmallerOneKeepsToo) {
  RateBudget many, few;
  many.SetLimit(RateBudget::kCalls, 100'000);
  few.SetLimit(RateBudget::kCalls, 5'000);
  uint32_t correlation = 0;
  Feed(&many, RateBudget::kCalls, kStart, 300'000, 1, &correlation);
  Feed(&few, RateBudget::kCalls, kStart, 300'000, 1, &correlation);
  ASSERT_GT(few.one_in(RateBudget::kCalls), many.one_in(RateBudget::kCalls));
  uint64_t kept = 0;
  for (uint32_t i = correlation + 1; i < correlation + 100'000; ++i) {
    if (!few.Keeps(RateBudget::kCalls, i, kStart + kSecond)) continue;
    ++kept;
    EXPECT_TRUE(many.Keeps(RateBudget::kCalls, i, kStart + kSecond)) << i;
  }
  EXPECT_GT(kept, 0u);
}

TEST(RateBudget, NodesAreKeptOnlyWhereTheirCallIs) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kCalls, kStart, 300'000, 1, &correlation);
  EXPECT_EQ(budget.one_in(RateBudget::kNodes), budget.one_in(RateBudget::kCalls));
  for (uint32_t i = correlation + 1; i < correlation + 10'000; ++i) {
    EXPECT_EQ(budget.Keeps(RateBudget::kNodes, i, kStart + kSecond),
              budget.Keeps(RateBudget::kCalls, i, kStart + kSecond));
  }
}

TEST(RateBudget, OfNodesBeyondTheirLimitNoneHasACallThatIsLeftOut) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  budget.SetLimit(RateBudget::kNodes, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kCalls, kStart, 30'000, 1, &correlation);
  Feed(&budget, RateBudget::kNodes, kStart, 300'000, 1, &correlation);
  ASSERT_EQ(budget.one_in(RateBudget::kCalls), 4u);
  ASSERT_EQ(budget.one_in(RateBudget::kNodes), 32u);
  uint64_t kept = 0;
  for (uint32_t i = correlation + 1; i < correlation + 20'000; ++i) {
    if (!budget.Keeps(RateBudget::kNodes, i, kStart + kSecond)) continue;
    ++kept;
    EXPECT_TRUE(budget.Keeps(RateBudget::kCalls, i, kStart + kSecond)) << i;
  }
  EXPECT_GT(kept, 400u);
}

TEST(RateBudget, NodesHaveALimitOfTheirOwn) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kNodes, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kNodes, kStart, 300'000, 1, &correlation);
  EXPECT_EQ(budget.one_in(RateBudget::kNodes), 32u);
  EXPECT_EQ(budget.one_in(RateBudget::kCalls), 1u);
}

TEST(RateBudget, WhatHasNoCallIsChosenToo) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kCalls, kStart, 300'000, 1, &correlation);
  uint64_t kept = 0;
  for (int i = 0; i < 100'000; ++i)
    kept += budget.Keeps(RateBudget::kCalls, 0, kStart + kSecond) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(kept), 1e5 / 32, 5 * std::sqrt(1e5 / 32));
}

// Programs repeat themselves: each of a step's kernels must have its share, whatever the period.
TEST(RateBudget, EveryCallOfAStepHasItsShare) {
  RateBudget budget;
  budget.SetLimit(RateBudget::kCalls, 10'000);
  uint32_t correlation = 0;
  Feed(&budget, RateBudget::kCalls, kStart, 150'000, 1, &correlation);
  ASSERT_EQ(budget.one_in(RateBudget::kCalls), 16u);
  for (const uint32_t period : {2u, 16u, 100u, 1597u, 4096u}) {
    for (uint32_t place = 0; place < period; place += period / 2) {
      uint64_t kept = 0;
      for (uint32_t step = 0; step < 4000; ++step)
        kept += budget.Keeps(RateBudget::kCalls, correlation + 1 + place + step * period,
                             kStart + kSecond);
      EXPECT_NEAR(static_cast<double>(kept), 250, 5 * std::sqrt(250)) << period << " " << place;
    }
  }
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
