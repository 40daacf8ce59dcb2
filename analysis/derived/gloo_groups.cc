// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/gloo_groups.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/derived/shared_moments.h"
#include "analysis/model/process_groups.h"

namespace gpuprof::analysis {
namespace {

// As ProcessGroupGloo makes them for a group.
constexpr uint8_t kThreadsOfGroup = 2;
// Ways to give threads to groups, and ways tried in all.
constexpr size_t kMostWays = 10'000, kMostTries = 100'000;
// More members of a group tell little more.
constexpr size_t kComparedMembers = 3;
// The first collectives tell enough.
constexpr size_t kMostMoments = 2000;

// How many threads each group has, in the order of the groups. The threads follow in their order.
using Way = std::vector<uint8_t>;

// A run of threads of a rank: the first, and how many.
using ThreadRun = std::pair<size_t, size_t>;

std::string KeyOf(const EntryGroup& group) { return group.name + ShortRankList(group.ranks); }

// A rank whose groups are to be found.
class GlooRank {
 public:
  explicit GlooRank(RankEntries* rank) : rank_(*rank) {
    std::set<int32_t> threads(rank->gloo_threads.begin(), rank->gloo_threads.end());
    threads.erase(0);
    threads_.assign(threads.begin(), threads.end());
    for (const EntryGroup& group : rank->groups) keys_.push_back(KeyOf(group));
    Way way;
    AddWays(0, &way);
    std::stable_sort(ways_.begin(), ways_.end(), [this](const Way& a, const Way& b) {
      return Unlikeliness(a) < Unlikeliness(b);
    });
  }

  const std::vector<std::string>& keys() const { return keys_; }
  // Likely ways come first. Empty: too many threads for the groups, or too many ways.
  const std::vector<Way>& ways() const { return ways_; }

  std::optional<size_t> GroupOf(const std::string& key) const {
    const auto found = std::find(keys_.begin(), keys_.end(), key);
    if (found == keys_.end()) return std::nullopt;
    return static_cast<size_t>(found - keys_.begin());
  }

  static ThreadRun RunOf(const Way& way, size_t group) {
    size_t first = 0;
    for (size_t i = 0; i < group; ++i) first += way[i];
    return {way[group] == 0 ? 0 : first, way[group]};
  }

  const std::vector<CollectiveMoment>& MomentsOf(const ThreadRun& run) {
    const auto [place, is_new] = moments_.try_emplace(run);
    if (!is_new) return place->second;
    for (size_t i = 0; i < rank_.entries.size() && place->second.size() < kMostMoments; ++i) {
      if (!IsOfRun(rank_.gloo_threads[i], run)) continue;
      const CollectiveEntry& entry = rank_.entries[i];
      place->second.push_back({entry.start_ns, entry.done_ns, entry.kind, entry.bytes});
    }
    return place->second;
  }

  void Take(const Way& way) {
    for (size_t i = 0; i < rank_.entries.size(); ++i)
      for (size_t group = 0; group < way.size(); ++group)
        if (IsOfRun(rank_.gloo_threads[i], RunOf(way, group)))
          rank_.entries[i].group = static_cast<uint32_t>(group);
  }

  // Finds the only way that needs no other rank: each group has two threads with numbers next to
  // each other. The group of all ranks may be idle.
  std::optional<Way> PlainWay() const {
    const bool may_idle = !rank_.groups.empty() && rank_.groups.front().description == kAllRanks;
    const size_t idle = threads_.size() == kThreadsOfGroup * rank_.groups.size() ? 0 : 1;
    if (idle == 1 && !may_idle) return std::nullopt;
    if (threads_.size() != kThreadsOfGroup * (rank_.groups.size() - idle)) return std::nullopt;
    for (size_t i = 0; i + 1 < threads_.size(); i += kThreadsOfGroup)
      if (threads_[i + 1] != threads_[i] + 1) return std::nullopt;
    Way way(rank_.groups.size(), kThreadsOfGroup);
    if (idle == 1) way.front() = 0;
    return way;
  }

 private:
  static constexpr const char* kAllRanks = "default_pg";

  bool IsOfRun(int32_t thread, const ThreadRun& run) const {
    return run.second > 0 && thread >= threads_[run.first] &&
           thread <= threads_[run.first + run.second - 1];
  }

  void AddWays(size_t used, Way* way) {
    const size_t left = threads_.size() - used, groups = keys_.size() - way->size();
    if (left > groups * kThreadsOfGroup || ways_.size() > kMostWays) return;
    if (groups == 0) {
      ways_.push_back(*way);
      return;
    }
    for (uint8_t count = 0; count <= std::min<size_t>(left, kThreadsOfGroup); ++count) {
      way->push_back(count);
      AddWays(used + count, way);
      way->pop_back();
    }
  }

  // Sorts ways. Groups that a program makes are used. A thread is idle more seldom than both of a
  // group that the launcher made. Threads of a group were made at one time.
  std::tuple<size_t, size_t, int64_t> Unlikeliness(const Way& way) const {
    size_t idle = 0, used = 0;
    int64_t apart = 0;
    for (size_t group = 0; group < way.size(); ++group) {
      const ThreadRun run = RunOf(way, group);
      if (run.second == 0) {
        idle += rank_.groups[group].description == kAllRanks ? 0 : 1;
        continue;
      }
      ++used;
      apart += threads_[run.first + run.second - 1] - threads_[run.first];
    }
    return {idle, used, apart};
  }

  RankEntries& rank_;
  std::vector<int32_t> threads_;   // ascending
  std::vector<std::string> keys_;  // of the groups
  std::vector<Way> ways_;
  std::map<ThreadRun, std::vector<CollectiveMoment>> moments_;
};

// Tries ways until those of all ranks fit to each other.
class GlooGroupFinder {
 public:
  explicit GlooGroupFinder(std::vector<GlooRank>* ranks) : ranks_(*ranks) {
    for (size_t i = 0; i < ranks_.size(); ++i)
      for (const std::string& key : ranks_[i].keys()) members_[key].push_back(i);
    Sort();
  }

  void Find() {
    for (const std::vector<size_t>& joined : joined_) {
      chosen_.assign(ranks_.size(), nullptr);
      tries_ = 0;
      if (joined.size() == 1) {
        GlooRank& alone = ranks_[joined.front()];
        if (const std::optional<Way> way = alone.PlainWay()) alone.Take(*way);
      } else if (Place(joined, 0)) {
        for (const size_t rank : joined) ranks_[rank].Take(*chosen_[rank]);
      }
    }
  }

 private:
  // Sorts ranks so that each but the first of a list shares a group with one before it.
  void Sort() {
    std::vector<bool> is_sorted(ranks_.size(), false);
    for (size_t first = 0; first < ranks_.size(); ++first) {
      if (is_sorted[first]) continue;
      std::vector<size_t>& joined = joined_.emplace_back();
      joined.push_back(first);
      is_sorted[first] = true;
      for (size_t at = 0; at < joined.size(); ++at) {
        for (const std::string& key : ranks_[joined[at]].keys()) {
          for (const size_t other : members_.at(key)) {
            if (is_sorted[other]) continue;
            is_sorted[other] = true;
            joined.push_back(other);
          }
        }
      }
    }
  }

  bool Place(const std::vector<size_t>& joined, size_t at) {
    if (at == joined.size()) return true;
    const size_t rank = joined[at];
    for (const Way& way : ranks_[rank].ways()) {
      if (++tries_ > kMostTries) return false;
      if (!Fits(rank, way)) continue;
      chosen_[rank] = &way;
      if (Place(joined, at + 1)) return true;
      chosen_[rank] = nullptr;
    }
    return false;
  }

  // Returns whether a way agrees with the ways of members that have one.
  bool Fits(size_t rank, const Way& way) {
    for (size_t group = 0; group < way.size(); ++group) {
      const std::string& key = ranks_[rank].keys()[group];
      size_t compared = 0;
      for (const size_t other : members_.at(key)) {
        if (chosen_[other] == nullptr) continue;
        const size_t theirs = *ranks_[other].GroupOf(key);
        if (!Agree({rank, GlooRank::RunOf(way, group)},
                   {other, GlooRank::RunOf(*chosen_[other], theirs)}))
          return false;
        if (++compared == kComparedMembers) break;
      }
    }
    return true;
  }

  using RunOfRank = std::pair<size_t, ThreadRun>;
  bool Agree(const RunOfRank& ours, const RunOfRank& theirs) {
    const auto [known, is_new] = agree_.try_emplace({ours, theirs}, false);
    if (is_new)
      known->second = CanBeShared(ranks_[ours.first].MomentsOf(ours.second),
                                  ranks_[theirs.first].MomentsOf(theirs.second));
    return known->second;
  }

  std::vector<GlooRank>& ranks_;
  std::map<std::string, std::vector<size_t>> members_;  // by the key of a group
  std::vector<std::vector<size_t>> joined_;
  std::vector<const Way*> chosen_;  // by rank
  std::map<std::pair<RunOfRank, RunOfRank>, bool> agree_;
  size_t tries_ = 0;
};

// Makes the size of what ranks gather that of the whole. Until here it is the input of one rank.
void SetSizes(RankEntries* rank) {
  for (CollectiveEntry& entry : rank->entries) {
    const bool gathers =
        entry.kind == CollectiveKind::kAllGather || entry.kind == CollectiveKind::kGather;
    if (!gathers || !entry.bytes) continue;
    const uint32_t size = entry.group == kNoGroup ? 0 : rank->groups[entry.group].size;
    if (size == 0) {
      entry.bytes.reset();
    } else {
      *entry.bytes *= size;
    }
  }
}

}  // namespace

void FindGlooGroups(const std::vector<RankEntries*>& ranks) {
  std::vector<GlooRank> several;
  for (RankEntries* rank : ranks)
    if (rank->groups.size() > 1) several.emplace_back(rank);
  GlooGroupFinder(&several).Find();
  for (RankEntries* rank : ranks) SetSizes(rank);
}

}  // namespace gpuprof::analysis
