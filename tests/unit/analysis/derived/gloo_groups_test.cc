// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/gloo_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::kUs;

struct Group {
  std::string description;
  std::vector<uint32_t> ranks;
};

// Ranks that enter collectives of groups, each at its own moment. All leave when the last has come.
class GlooJob {
 public:
  GlooJob(size_t ranks, std::vector<Group> groups) : groups_(std::move(groups)), ranks_(ranks) {
    now_.assign(ranks, 0);
    threads_.assign(ranks, {});
    truth_.assign(ranks, {});
    int32_t next = 1000;
    for (const Group& group : groups_) {
      // Ranks make their threads at the same time, so the numbers of one rank have gaps.
      for (int thread = 0; thread < 2; ++thread)
        for (const uint32_t rank : group.ranks) threads_[rank].push_back(next++);
      for (const uint32_t rank : group.ranks) {
        ranks_[rank].groups.push_back({std::to_string(&group - groups_.data()), group.description,
                                       static_cast<uint32_t>(group.ranks.size()), group.ranks, ""});
      }
    }
  }

  void Work(size_t rank, int64_t ns) { now_[rank] += ns; }

  void Meet(size_t group, CollectiveKind kind = CollectiveKind::kAllReduce) {
    int64_t last = 0;
    for (const uint32_t rank : groups_[group].ranks) last = std::max(last, now_[rank]);
    for (const uint32_t rank : groups_[group].ranks) {
      const auto local = LocalOf(group, rank);
      CollectiveEntry& entry = ranks_[rank].entries.emplace_back();
      entry.start_ns = now_[rank];
      entry.done_ns = last + 20 * kUs;
      entry.kind = kind;
      entry.bytes = 400;
      ranks_[rank].gloo_threads.push_back(threads_[rank][2 * local + random_() % 2]);
      truth_[rank].push_back(static_cast<uint32_t>(local));
      now_[rank] = *entry.done_ns + 10 * kUs + static_cast<int64_t>(random_() % 50) * kUs;
    }
  }

  // Finds the groups, and returns how many entries have the right one, the wrong one, and none.
  std::vector<size_t> Find() {
    std::vector<RankEntries*> list;
    for (RankEntries& rank : ranks_) list.push_back(&rank);
    FindGlooGroups(list);
    std::vector<size_t> counts(3, 0);
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (size_t i = 0; i < truth_[rank].size(); ++i) {
        const uint32_t group = ranks_[rank].entries[i].group;
        ++counts[group == kNoGroup ? 2 : group == truth_[rank][i] ? 0 : 1];
      }
    }
    return counts;
  }

  RankEntries& rank(size_t i) { return ranks_[i]; }

 private:
  size_t LocalOf(size_t group, uint32_t rank) const {
    size_t local = 0;
    for (size_t i = 0; i < group; ++i)
      local +=
          static_cast<size_t>(std::count(groups_[i].ranks.begin(), groups_[i].ranks.end(), rank));
    return local;
  }

  std::vector<Group> groups_;
  std::vector<RankEntries> ranks_;
  std::vector<int64_t> now_;
  std::vector<std::vector<int32_t>> threads_;  // by rank, two a group
  std::vector<std::vector<uint32_t>> truth_;   // by rank and entry
  std::mt19937 random_{7};
};

std::vector<Group> Grid() {
  return {
      {"default_pg", {0, 1, 2, 3}}, {"tp", {0, 1}}, {"tp", {2, 3}}, {"dp", {0, 2}}, {"dp", {1, 3}}};
}

void Step(GlooJob* job) {
  for (const size_t group : {1, 2, 3, 4}) job->Meet(group);
}

TEST(FindGlooGroups, RanksThatMeetTell) {
  GlooJob job(4, Grid());
  for (int step = 0; step < 24; ++step) {
    job.Work(1, 30 * kMs);
    Step(&job);
  }
  EXPECT_EQ(job.Find(), (std::vector<size_t>{192, 0, 0}));
}

TEST(FindGlooGroups, AlsoIfNobodyIsSlow) {
  GlooJob job(4, Grid());
  job.Meet(0, CollectiveKind::kBarrier);
  for (int step = 0; step < 40; ++step) Step(&job);
  job.Meet(0, CollectiveKind::kBarrier);
  EXPECT_EQ(job.Find(), (std::vector<size_t>{328, 0, 0}));
}

TEST(FindGlooGroups, NothingIsGuessedIfNothingFits) {
  GlooJob job(4, Grid());
  for (int step = 0; step < 24; ++step) Step(&job);
  // A rank of another run.
  for (size_t i = 0; i < job.rank(3).entries.size(); ++i)
    job.rank(3).entries[i].start_ns += static_cast<int64_t>(i % 7) * 50 * kMs;
  for (CollectiveEntry& entry : job.rank(3).entries) entry.done_ns = entry.start_ns + kUs;
  const std::vector<size_t> counts = job.Find();
  EXPECT_EQ(counts[2], 192U);
}

TEST(FindGlooGroups, OneRankAloneHasGroupsIfItsThreadsTell) {
  GlooJob job(1, {{"default_pg", {0}}, {"a", {0}}, {"b", {0}}});
  for (int step = 0; step < 24; ++step) {
    job.Meet(1);
    job.Meet(2);
  }
  EXPECT_EQ(job.Find(), (std::vector<size_t>{48, 0, 0}));
}

TEST(FindGlooGroups, WhatRanksGatherHasTheSizeOfAll) {
  GlooJob job(2, {{"default_pg", {0, 1}}, {"a", {0, 1}}});
  for (int step = 0; step < 24; ++step) {
    job.Meet(0);
    job.Meet(1, CollectiveKind::kAllGather);
  }
  job.Find();
  EXPECT_EQ(job.rank(0).entries[0].bytes, 400U);
  EXPECT_EQ(job.rank(0).entries[1].bytes, 800U);
}

}  // namespace
}  // namespace gpuprof::analysis
