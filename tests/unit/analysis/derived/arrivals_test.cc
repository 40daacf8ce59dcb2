// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/arrivals.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::kUs;

struct Told : Arrivals, Judgement {};

// Ranks that meet in one collective after the other. Each has the result 100 us after the last one
// came, and goes on.
class Job {
 public:
  explicit Job(size_t ranks) {
    for (size_t i = 0; i < ranks; ++i) {
      const auto pid = static_cast<int32_t>(100 + i);
      builders_.emplace_back(pid);
      builders_.back().process().environment = {{"RANK", std::to_string(i)},
                                                {"WORLD_SIZE", std::to_string(ranks)},
                                                {"MASTER_ADDR", "node"},
                                                {"MASTER_PORT", "29500"}};
    }
    clocks_.assign(ranks, 0);
    is_recorded_.assign(ranks, true);
  }

  // Rank i comes `work_ns(i)` after the last collective.
  Job& Meet(const std::function<int64_t(size_t)>& work_ns,
            const std::string& name = "c10d::allreduce_") {
    int64_t last = 0;
    for (size_t i = 0; i < builders_.size(); ++i) last = std::max(last, now_ + work_ns(i));
    const int64_t done = last + 100 * kUs;
    for (size_t i = 0; i < builders_.size(); ++i) {
      if (!is_recorded_[i]) continue;
      const int64_t start = now_ + work_ns(i) + clocks_[i];
      builders_[i].Thread(100 + static_cast<int32_t>(i)).Op(name, start, start + 10 * kUs);
      if (has_waits_)
        builders_[i]
            .Thread(100 + static_cast<int32_t>(i))
            .Wait(proto::WaitKind::kCondition, 1, 2, start + 20 * kUs, done + clocks_[i]);
    }
    now_ = done;
    return *this;
  }
  Job& WithoutWaits() {
    has_waits_ = false;
    return *this;
  }
  Job& Record(size_t rank, bool is_recorded) {
    is_recorded_[rank] = is_recorded;
    return *this;
  }
  Job& OnHost(size_t rank, const std::string& host, int64_t clock_ns) {
    builders_[rank].process().host = host;
    clocks_[rank] = clock_ns;
    return *this;
  }
  test::ProcessBuilder& rank(size_t i) { return builders_[i]; }

  Told Find(const std::optional<Interval>& window = std::nullopt) {
    processes_.clear();
    std::vector<const Process*> list;
    for (const test::ProcessBuilder& builder : builders_) processes_.push_back(builder.Build());
    for (const Process& process : processes_) list.push_back(&process);
    Arrivals arrivals = FindArrivals(list, {window, window});
    const Judgement judgement = JudgeLateness(arrivals, {});
    return {std::move(arrivals), judgement};
  }

 private:
  std::deque<test::ProcessBuilder> builders_;
  std::deque<Process> processes_;
  std::vector<int64_t> clocks_;
  std::vector<bool> is_recorded_;
  bool has_waits_ = true;
  int64_t now_ = kMs;
};

int64_t SecondIsSlow(size_t rank) { return rank == 1 ? 6 * kMs : kMs + 20 * kUs * rank; }

TEST(Arrivals, SlowRankIsToldWithWhatTheOthersWaited) {
  Job job(3);
  for (int i = 0; i < 20; ++i) job.Meet(SecondIsSlow);
  const Told arrivals = job.Find();
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_EQ(arrivals.matched_count, 20u);
  EXPECT_EQ(arrivals.undecided_count, 0u);
  ASSERT_TRUE(arrivals.late());
  EXPECT_EQ(arrivals.late()->rank, 1u);
  EXPECT_EQ(arrivals.late()->count, arrivals.late()->of);
  // The rank before it comes after 1.04 ms.
  EXPECT_EQ(arrivals.late()->lead_ns, 20 * (4960 * kUs));
  EXPECT_EQ(arrivals.late()->longest_ns, 4960 * kUs);
  EXPECT_EQ(arrivals.ranks[0].early_ns, 20 * 5 * kMs);
  EXPECT_EQ(arrivals.ranks[0].waited_ns, 20 * (5 * kMs - 20 * kUs)) << "waits begin later";
  EXPECT_EQ(arrivals.ranks[0].exchange_ns, 20 * 100 * kUs);
  EXPECT_EQ(arrivals.ranks[1].waited_ns, 0);
  EXPECT_EQ(arrivals.ranks[1].exchange_ns, 20 * 80 * kUs);
  EXPECT_EQ(arrivals.ranks[1].last_count, 20u);
  EXPECT_EQ(arrivals.ranks[1].caused_ns,
            *arrivals.ranks[0].waited_ns + *arrivals.ranks[2].waited_ns);
  ASSERT_EQ(arrivals.waits.size(), 2u);
  EXPECT_EQ(arrivals.waits[0].waiter, 0u);
  EXPECT_EQ(arrivals.waits[0].late, 1u);
  EXPECT_EQ(arrivals.waits[0].count, 20u);
  EXPECT_EQ(arrivals.waits[0].max_ns, 5 * kMs);
  ASSERT_EQ(arrivals.ops.size(), 1u);
  EXPECT_EQ(arrivals.ops[0].spread_ns, 20 * 5 * kMs);
}

TEST(Arrivals, RanksThatTakeTurnsAreNotLate) {
  Job job(3);
  for (size_t i = 0; i < 21; ++i)
    job.Meet([i](size_t rank) { return rank == i % 3 ? 6 * kMs : kMs; });
  const Told arrivals = job.Find();
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_FALSE(arrivals.late());
  EXPECT_EQ(arrivals.lateness, Lateness::kInTurns);
  EXPECT_EQ(arrivals.waits.size(), 6u);
  for (const RankArrivals& rank : arrivals.ranks) EXPECT_EQ(rank.last_count, 7u);
}

TEST(Arrivals, OneLongDelayIsNoHabit) {
  Job job(2);
  for (size_t i = 0; i < 20; ++i) {
    const int64_t extra = i == 5 ? 1000 * kMs : 10 * kUs;
    job.Meet([=](size_t rank) { return rank == 1 ? kMs + extra : kMs; });
  }
  const Told arrivals = job.Find();
  EXPECT_EQ(arrivals.lateness, Lateness::kOnce);
  EXPECT_FALSE(arrivals.late());
  EXPECT_EQ(arrivals.most_late->rank, 1u);
  EXPECT_EQ(arrivals.most_late->longest_ns, 1000 * kMs);
}

TEST(Arrivals, FewCollectivesTellNothing) {
  Job job(3);
  for (int i = 0; i < 4; ++i) job.Meet(SecondIsSlow);
  const Told arrivals = job.Find();
  EXPECT_EQ(arrivals.lateness, Lateness::kTooFew);
  EXPECT_FALSE(arrivals.late());
  EXPECT_EQ(arrivals.most_late->rank, 1u);
}

TEST(Arrivals, MostOfFewMayBeChance) {
  Job job(2);
  for (int i = 0; i < 7; ++i)
    job.Meet([i](size_t rank) { return (rank == 1) == (i < 5) ? 6 * kMs : kMs; });
  const Told arrivals = job.Find();
  EXPECT_EQ(arrivals.lateness, Lateness::kTooFew);
  EXPECT_EQ(arrivals.most_late->rank, 1u);
  EXPECT_EQ(arrivals.most_late->count, 5u);
  EXPECT_EQ(arrivals.most_late->of, 7u);
}

TEST(Arrivals, ShortDelaysAreNamedOfNobody) {
  Job job(2);
  for (int i = 0; i < 40; ++i)
    job.Meet([](size_t rank) { return rank == 1 ? 5 * kMs + 20 * kUs : 5 * kMs; });
  const Told arrivals = job.Find();
  EXPECT_EQ(arrivals.lateness, Lateness::kNone);
  EXPECT_FALSE(arrivals.most_late);
}

TEST(Arrivals, RecordingThatBeginsLaterIsPlacedByTheEnds) {
  Job job(2);
  job.Record(0, false);
  for (int i = 0; i < 3; ++i) job.Meet(SecondIsSlow);
  job.Record(0, true);
  for (int i = 0; i < 17; ++i) job.Meet(SecondIsSlow);
  job.Record(1, false).Meet(SecondIsSlow);
  const Told arrivals = job.Find();
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_EQ(arrivals.matched_count, 17u);
  EXPECT_EQ(arrivals.ranks[0].recorded_count, 18u);
  EXPECT_EQ(arrivals.ranks[1].recorded_count, 20u);
  EXPECT_EQ(arrivals.ranks[0].early_ns, 17 * 5 * kMs);
  EXPECT_EQ(arrivals.ranks[1].early_ns, 0);
  ASSERT_TRUE(arrivals.late());
  EXPECT_EQ(arrivals.late()->rank, 1u);
}

TEST(Arrivals, RecordingsOfDifferentLengthWithoutWaitsAreNotGuessed) {
  Job job(2);
  job.WithoutWaits().Record(0, false).Meet(SecondIsSlow).Record(0, true);
  for (int i = 0; i < 17; ++i) job.Meet(SecondIsSlow);
  EXPECT_EQ(job.Find().match, ArrivalMatch::kUnplaced);
}

TEST(Arrivals, WithoutWaitsRanksAreEarlyAlone) {
  Job job(2);
  job.WithoutWaits();
  for (int i = 0; i < 20; ++i) job.Meet(SecondIsSlow);
  const Told arrivals = job.Find();
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_FALSE(arrivals.ranks[0].waited_ns);
  EXPECT_EQ(arrivals.ranks[0].early_ns, 20 * 5 * kMs);
  EXPECT_EQ(arrivals.ranks[1].caused_ns, 20 * 5 * kMs);
}

TEST(Arrivals, ClocksOfMachinesAreSetRightByTheEnds) {
  Job job(2);
  job.OnHost(1, "other", 3 * kMs);
  for (int i = 0; i < 20; ++i) job.Meet(SecondIsSlow);
  const Told arrivals = job.Find();
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_EQ(arrivals.ranks[1].clock_offset_ns + arrivals.ranks[0].clock_offset_ns, -3 * kMs);
  EXPECT_EQ(arrivals.ranks[0].early_ns, 20 * 5 * kMs);
  EXPECT_EQ(arrivals.ranks[0].waited_ns, 20 * (5 * kMs - 20 * kUs));
  ASSERT_TRUE(arrivals.late());
  EXPECT_EQ(arrivals.late()->rank, 1u);
  Job blind(2);
  blind.WithoutWaits().OnHost(1, "other", 3 * kMs);
  for (int i = 0; i < 20; ++i) blind.Meet(SecondIsSlow);
  EXPECT_EQ(blind.Find().match, ArrivalMatch::kClocks);
}

TEST(Arrivals, DifferentCollectivesAreNotCompared) {
  Job job(2);
  for (int i = 0; i < 10; ++i) {
    job.Meet(SecondIsSlow);
    job.Record(1, false).Meet(SecondIsSlow, "c10d::broadcast_").Record(1, true);
    job.Record(0, false).Meet(SecondIsSlow, "c10d::barrier").Record(0, true);
  }
  EXPECT_EQ(job.Find().match, ArrivalMatch::kDifferentOrder);
}

TEST(Arrivals, OneRankAndNoCollectivesAreTold) {
  Job alone(1);
  alone.Meet(SecondIsSlow);
  EXPECT_EQ(alone.Find().match, ArrivalMatch::kOneRank);
  Job none(2);
  none.Meet(SecondIsSlow, "c10d::send");
  EXPECT_EQ(none.Find().match, ArrivalMatch::kNoCollectives);
}

TEST(Arrivals, EarlierLifeOfARankDoesNotCount) {
  Job job(2);
  for (int i = 0; i < 10; ++i) job.Meet(SecondIsSlow);
  test::ProcessBuilder before(99);
  before.process().environment = job.rank(1).process().environment;
  before.Thread(99).Op("c10d::allreduce_", 0, 10 * kUs);
  const Process first = before.Build(), second = job.rank(0).Build(), third = job.rank(1).Build();
  EXPECT_EQ(FindArrivals({&first, &second, &third}).ranks.size(), 2u);
}

TEST(Arrivals, OverlappingBucketsCountTimeOnce) {
  Job job(2);
  // Each step has two collectives under way at once, and one wait behind them.
  for (int step = 0; step < 10; ++step) {
    const int64_t at = (1 + 10 * step) * kMs;
    job.rank(0)
        .Thread(100)
        .Op("c10d::allreduce_", at, at + kUs)
        .Op("c10d::allreduce_", at + kMs, at + kMs + kUs)
        .Wait(proto::WaitKind::kCondition, 1, 2, at + 2 * kMs, at + 6 * kMs);
    job.rank(1)
        .Thread(101)
        .Op("c10d::allreduce_", at + 4 * kMs, at + 4 * kMs + kUs)
        .Op("c10d::allreduce_", at + 5 * kMs, at + 5 * kMs + kUs)
        .Wait(proto::WaitKind::kCondition, 1, 2, at + 5 * kMs + kUs, at + 6 * kMs);
  }
  const Told arrivals = job.Find();
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_EQ(arrivals.ranks[0].early_ns, 10 * (4 + 4) * kMs);
  EXPECT_EQ(arrivals.ranks[0].waited_ns, 10 * (2 + 1) * kMs) << "from the wait's begin, once";
  EXPECT_EQ(arrivals.ranks[0].exchange_ns, 10 * kMs);
}

// Arrivals of a job whose collectives wait for a rank by chance. With `bias` the first rank comes
// last in this part of them, and else as often as all ranks.
Arrivals RandomJob(size_t ranks, size_t collectives, double bias, std::mt19937* random) {
  std::uniform_int_distribution<size_t> rank(0, ranks - 1);
  std::uniform_real_distribution<double> part(0, 1);
  std::exponential_distribution<double> lead(1);
  Arrivals job;
  job.ranks.resize(ranks);
  job.groups.resize(1);
  for (size_t i = 0; i < ranks; ++i) job.groups[0].group.members.push_back(i);
  job.end_ns = static_cast<int64_t>(collectives) * 5 * kMs;
  for (size_t i = 0; i < collectives; ++i) {
    const size_t late = part(*random) < bias ? 0 : rank(*random);
    const auto ns = static_cast<int64_t>(lead(*random) * kMs) + 1;
    job.leads.push_back({late, 0, ns, static_cast<int64_t>(i) * 5 * kMs});
    job.ranks[late].lead_ns += ns;
  }
  return job;
}

size_t LateOf(size_t jobs, size_t ranks, size_t collectives, double bias) {
  std::mt19937 random(7);
  size_t late = 0;
  for (size_t i = 0; i < jobs; ++i) {
    const Judgement found = JudgeLateness(RandomJob(ranks, collectives, bias, &random), {});
    if (found.late() != nullptr) ++late;
  }
  return late;
}

TEST(Lateness, ChanceIsHardlyEverCalledLate) {
  for (const size_t ranks : {2, 3, 4, 8, 64}) {
    for (const size_t collectives : {5, 8, 12, 20, 50, 200})
      EXPECT_LE(LateOf(1000, ranks, collectives, 0), 15u) << ranks << " " << collectives;
  }
}

TEST(Lateness, AHabitIsSeen) {
  for (const size_t ranks : {2, 4, 8, 64}) {
    EXPECT_GE(LateOf(1000, ranks, 30, 0.9), 970u) << ranks;
    EXPECT_GE(LateOf(1000, ranks, 200, 0.9), 1000u) << ranks;
  }
}

TEST(Arrivals, WindowChoosesCollectives) {
  Job job(2);
  for (int i = 0; i < 10; ++i) job.Meet(SecondIsSlow);
  const Arrivals all = job.Find();
  EXPECT_EQ(job.Find(Interval{all.start_ns, all.start_ns + 1}).matched_count, 1u);
}

TEST(Arrivals, KernelsOfDevicesAreRanks) {
  test::ProcessBuilder builder(7);
  const uint32_t reduce = builder.Signature("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 32);
  builder.Thread(7).Op("c10d::allreduce_", 0, kUs);
  for (int i = 0; i < 10; ++i) {
    const int64_t at = (1 + 10 * i) * kMs;
    builder.Stream(0, 1, 7).Kernel(reduce, at, at + 5 * kMs);
    builder.Stream(1, 2, 7).Kernel(reduce, at + 4 * kMs, at + 5 * kMs);
  }
  const Process process = builder.Build();
  const Arrivals arrivals = FindArrivals({&process});
  ASSERT_EQ(arrivals.match, ArrivalMatch::kMatched);
  EXPECT_TRUE(arrivals.is_of_kernels);
  ASSERT_EQ(arrivals.ranks.size(), 2u);
  EXPECT_EQ(arrivals.ranks[0].waited_ns, 10 * 4 * kMs);
  EXPECT_EQ(arrivals.ranks[0].exchange_ns, 10 * kMs);
  const Judgement judgement = JudgeLateness(arrivals, {});
  ASSERT_TRUE(judgement.late());
  EXPECT_EQ(arrivals.ranks[judgement.late()->rank].device, 1u);
}

}  // namespace
}  // namespace gpuprof::analysis
