// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/rank_clocks.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kNoSet = 0xffffffff;
// No clocks are a month apart. Sums of a thousand offsets stay in 64 bits.
constexpr int64_t kFarNs = int64_t{30} * 24 * 3600 * 1'000'000'000;

class ClockFinder {
 public:
  ClockFinder(const std::vector<JobRank>& ranks, const std::vector<Communicator>& groups,
              RankClocks* out)
      : ranks_(ranks), groups_(groups), clocks_(out->clocks) {
    clocks_.assign(ranks.size(), {0, 0, 0, kNoSet, kNoSet, false});
    of_ranks_.resize(ranks.size());
    for (size_t g = 0; g < groups.size(); ++g)
      for (const size_t member : groups[g].members) of_ranks_[member].push_back(g);
  }

  // Goes through the groups from those with the most members: few steps make few errors.
  void Find() {
    std::vector<bool> is_seen(groups_.size(), false);
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (is_seen[g] || groups_[g].match != GroupMatch::kMatched) continue;
      std::deque<size_t> next = {g};
      is_seen[g] = true;
      while (!next.empty()) {
        const size_t group = next.front();
        next.pop_front();
        for (const size_t rank : PlaceMembers(groups_[group])) {
          for (const size_t other : of_ranks_[rank]) {
            if (is_seen[other] || groups_[other].match != GroupMatch::kMatched) continue;
            is_seen[other] = true;
            next.push_back(other);
          }
        }
      }
    }
    for (size_t i = 0; i < ranks_.size(); ++i)
      if (clocks_[i].set == kNoSet) BeginSet(i);
    JoinByMessages();
  }

 private:
  const CollectiveEntry& Entry(const Communicator& group, size_t member, size_t collective) const {
    const uint32_t entry = group.entries[collective * group.members.size() + member];
    return ranks_[group.members[member]].found.entries[entry];
  }

  // A host has one clock for all calls. The clock of a device is its own.
  bool HaveOneClock(size_t a, size_t b) const {
    return !ranks_[a].found.device && !ranks_[b].found.device &&
           ranks_[a].process->host == ranks_[b].process->host;
  }

  void BeginSet(size_t rank) {
    for (size_t i = 0; i < ranks_.size(); ++i) {
      if (clocks_[i].set == kNoSet || !HaveOneClock(i, rank)) continue;
      clocks_[rank] = clocks_[i];
      return;
    }
    clocks_[rank] = {0, 0, 0, sets_, sets_, false};
    ++sets_;
  }

  // Places the members that have no clock yet. Returns the members that were placed now, and the
  // first one.
  std::vector<size_t> PlaceMembers(const Communicator& group) {
    std::vector<size_t> placed;
    size_t hub = group.members.size();
    for (size_t m = 0; m < group.members.size(); ++m) {
      const RankClocks::Clock& clock = clocks_[group.members[m]];
      if (clock.set == kNoSet) continue;
      if (hub == group.members.size() || clock.error_ns < clocks_[group.members[hub]].error_ns)
        hub = m;
    }
    if (hub == group.members.size()) {
      hub = FewestEntries(group);
      BeginSet(group.members[hub]);
      placed.push_back(group.members[hub]);
    }
    for (size_t m = 0; m < group.members.size(); ++m) {
      const size_t rank = group.members[m];
      if (clocks_[rank].set != kNoSet || !Place(group, hub, m)) continue;
      placed.push_back(rank);
    }
    return placed;
  }

  size_t FewestEntries(const Communicator& group) const {
    size_t least = 0;
    for (size_t m = 1; m < group.members.size(); ++m)
      if (EntriesOf(group, m) < EntriesOf(group, least)) least = m;
    return least;
  }
  size_t EntriesOf(const Communicator& group, size_t member) const {
    return ranks_[group.members[member]].found.entries.size();
  }

  bool Place(const Communicator& group, size_t hub, size_t member) {
    RankClocks::Clock& clock = clocks_[group.members[member]];
    const RankClocks::Clock& known = clocks_[group.members[hub]];
    if (HaveOneClock(group.members[hub], group.members[member])) {
      clock = known;
      return true;
    }
    std::vector<int64_t> together, others;
    for (size_t i = 0; i < group.collectives(); ++i) {
      const CollectiveEntry& own = Entry(group, member, i);
      const CollectiveEntry& of_hub = Entry(group, hub, i);
      if (!own.done_ns || !of_hub.done_ns) continue;
      (EndsTogether(own.kind) ? together : others).push_back(*of_hub.done_ns - *own.done_ns);
    }
    if (together.empty()) together = std::move(others);
    if (together.empty()) return false;
    const Samples samples(std::move(together));
    if (std::abs(samples.median()) > kFarNs) return false;
    clock.offset_ns = known.offset_ns + samples.median();
    clock.error_ns = known.error_ns + samples.MedianDistance();
    clock.set = known.set;
    clock.joined = known.joined;
    clock.is_own = true;
    return true;
  }

  // What messages say of the clock of one set against that of another.
  struct Bounds {
    std::optional<int64_t> least, most;  // what is added to the second set
  };

  void AddBound(size_t from, int64_t sent, size_t to, int64_t received,
                std::map<std::pair<uint32_t, uint32_t>, Bounds>* all) const {
    const uint32_t first = clocks_[from].set, second = clocks_[to].set;
    if (first == second) return;
    const int64_t gap = sent + clocks_[from].offset_ns - received - clocks_[to].offset_ns;
    if (std::abs(gap) > kFarNs) return;
    if (first < second) {
      std::optional<int64_t>& least = (*all)[{first, second}].least;
      least = std::max(least.value_or(gap), gap);
    } else {
      std::optional<int64_t>& most = (*all)[{second, first}].most;
      most = std::min(most.value_or(-gap), -gap);
    }
  }

  // Joins sets that send messages to each other in both directions. Passes over all messages until
  // no set is joined further.
  void JoinByMessages() {
    for (uint32_t round = 0; round < sets_; ++round) {
      std::map<std::pair<uint32_t, uint32_t>, Bounds> all;
      for (const Communicator& group : groups_) {
        for (const Communicator::Message& message : group.messages) {
          const CollectiveEntry& sent = ranks_[message.sender].found.entries[message.sent];
          const CollectiveEntry& got = ranks_[message.receiver].found.entries[message.received];
          if (got.done_ns)
            AddBound(message.sender, sent.start_ns, message.receiver, *got.done_ns, &all);
        }
      }
      if (!JoinNarrow(all)) return;
    }
  }

  // Joins each set with the one to which its bounds are narrowest. Returns whether sets were
  // joined.
  bool JoinNarrow(const std::map<std::pair<uint32_t, uint32_t>, Bounds>& all) {
    std::vector<std::pair<int64_t, std::pair<uint32_t, uint32_t>>> order;
    for (const auto& [sets, bounds] : all)
      if (bounds.least && bounds.most) order.push_back({*bounds.most - *bounds.least, sets});
    std::sort(order.begin(), order.end());
    std::vector<bool> is_moved(sets_, false);
    bool is_joined = false;
    for (const auto& [width, sets] : order) {
      const auto [first, second] = sets;
      if (is_moved[first] || is_moved[second]) continue;
      is_moved[first] = is_moved[second] = is_joined = true;
      const Bounds& bounds = all.at(sets);
      const int64_t middle = *bounds.least + (*bounds.most - *bounds.least) / 2;
      const int64_t error = std::abs(*bounds.most - *bounds.least) / 2;
      for (RankClocks::Clock& clock : clocks_) {
        if (clock.set != second) continue;
        clock.set = first;
        clock.offset_ns += middle;
        clock.error_ns += error;
        clock.message_error_ns += error;
        clock.is_own = true;
      }
    }
    return is_joined;
  }

  const std::vector<JobRank>& ranks_;
  const std::vector<Communicator>& groups_;
  std::vector<RankClocks::Clock>& clocks_;
  std::vector<std::vector<size_t>> of_ranks_;  // groups by rank
  uint32_t sets_ = 0;
};

}  // namespace

int64_t RankClocks::ErrorOf(const Communicator& group) const {
  const uint32_t joined = clocks[group.members.front()].joined;
  const bool are_joined =
      std::all_of(group.members.begin(), group.members.end(),
                  [&](size_t member) { return clocks[member].joined == joined; });
  int64_t error = 0;
  for (const size_t member : group.members) {
    const Clock& clock = clocks[member];
    error = std::max(error, clock.error_ns - (are_joined ? clock.message_error_ns : 0));
  }
  return error;
}

bool RankClocks::AreOfOneSet(const Communicator& group) const {
  return std::all_of(group.members.begin(), group.members.end(), [&](size_t member) {
    return clocks[member].set == clocks[group.members.front()].set;
  });
}

RankClocks FindRankClocks(const std::vector<JobRank>& ranks,
                          const std::vector<Communicator>& groups) {
  RankClocks clocks;
  ClockFinder(ranks, groups, &clocks).Find();
  return clocks;
}

}  // namespace gpuprof::analysis
