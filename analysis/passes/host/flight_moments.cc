// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See flight_moments.h. Two bounds hold for the moment of each dump. The newest time in the dump is
// the first one. A collective that the dump lacks, and that another rank has left, is the last one,
// and so is the time at which the file was written. A copy of the file may have a later time.

#include "analysis/passes/host/flight_moments.h"

#include <algorithm>

#include "analysis/derived/collective_message.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kLeastPauseNs = 1'000'000'000;
constexpr int64_t kMomentMs = 1'000'000;
constexpr size_t kMostCompared = 1'000;  // collectives of two clocks

int64_t EndOf(const FlightStep& step) { return step.last().completed_ns; }

bool IsSynchronisingStep(const FlightMember& member, const FlightStep& step) {
  return std::all_of(step.parts.begin(), step.parts.end(), [&](const FlightEntry* part) {
    const std::string& name = member.dump->text(part->operation);
    return name == "coalesced" || WaitsForAll(KindOfCollective(name));
  });
}

// Returns how much a clock is ahead of another one, by collectives that end on both at once. None:
// the ranks share no collective.
std::optional<int64_t> AheadOf(const FlightMember& member, const FlightMember& other) {
  std::vector<int64_t> ahead;
  for (auto at = member.collectives.rbegin();
       at != member.collectives.rend() && ahead.size() < kMostCompared; ++at) {
    const auto found = other.collectives.find(at->first);
    if (found == other.collectives.end()) continue;
    int64_t own = EndOf(at->second), others = EndOf(found->second);
    if (own <= 0 || others <= 0) {
      own = at->second.last().created_ns;
      others = found->second.last().created_ns;
    }
    if (own > 0 && others > 0) ahead.push_back(own - others);
  }
  if (ahead.empty()) return std::nullopt;
  const auto middle = ahead.begin() + static_cast<std::ptrdiff_t>(ahead.size() / 2);
  std::nth_element(ahead.begin(), middle, ahead.end());
  return *middle;
}

// Returns the longest time that a rank let pass between two operations of the group. Half of the
// timeout is no usual wait.
int64_t PauseOf(const JoinedGroup& group) {
  int64_t longest = kLeastPauseNs, most = INT64_MAX;
  for (const auto& [rank, member] : group.members) {
    int64_t before = kNotInDump;
    for (const auto& [sequence, step] : member.collectives) {
      const int64_t created = step.parts.front()->created_ns;
      if (created > 0 && before > 0) longest = std::max(longest, created - before);
      before = created;
      const int64_t timeout = step.last().timeout_ms;
      if (timeout > 0 && timeout < INT64_MAX / kMomentMs)
        most = std::min(most, timeout * kMomentMs / 2);
    }
  }
  return std::max(kLeastPauseNs, std::min(longest, most));
}

}  // namespace

FlightMoments::FlightMoments(const std::vector<JoinedGroup>& groups) {
  for (const JoinedGroup& group : groups)
    for (const auto& [rank, member] : group.members) dumps_[rank];
  LevelClocks(groups);
  FindFirst(groups);
  for (const JoinedGroup& group : groups) {
    groups_[&group].pause_ns = PauseOf(group);
    FindLast(group);
    FindLastOfMessages(group);
  }
}

// Groups that share a rank lead on to further ranks. A rank that shares nothing keeps its clock.
void FlightMoments::LevelClocks(const std::vector<JoinedGroup>& groups) {
  std::map<int32_t, int64_t> ahead;
  for (bool has_more = true; has_more;) {
    has_more = false;
    for (const JoinedGroup& group : groups) {
      const FlightMember* known = nullptr;
      for (const auto& [rank, member] : group.members)
        if (known == nullptr && ahead.contains(rank)) known = &member;
      if (known == nullptr) {
        // The first rank of ranks that nothing has joined yet.
        const auto first = std::find_if(group.members.begin(), group.members.end(), [](auto& each) {
          return !each.second.collectives.empty();
        });
        if (first == group.members.end()) continue;
        ahead[first->first] = 0;
        known = &first->second;
      }
      for (const auto& [rank, member] : group.members) {
        if (ahead.contains(rank)) continue;
        const std::optional<int64_t> found = AheadOf(member, *known);
        if (!found) continue;
        ahead[rank] = ahead[known->rank] + *found;
        has_more = true;
      }
    }
  }
  for (const auto& [rank, ns] : ahead) dumps_[rank].ahead_ns = ns;
}

void FlightMoments::FindFirst(const std::vector<JoinedGroup>& groups) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;  // archives round times of files
  for (const JoinedGroup& group : groups) {
    for (const auto& [rank, member] : group.members) {
      Dump& dump = dumps_[rank];
      if (dump.first_ns != kNotInDump) continue;
      int64_t newest = kNotInDump;
      for (const FlightEntry& entry : member.dump->entries)
        newest = std::max({newest, entry.created_ns, entry.started_ns, entry.completed_ns});
      if (newest <= 0) continue;
      dump.first_ns = LevelNs(rank, newest);
      newest_ns_ = std::max(newest_ns_, dump.first_ns);
      const int64_t written = member.dump->written_ns;
      // A file that is older than what it holds has the time of another clock.
      if (written > 0 && written >= newest - 2 * kNsPerSecond)
        dump.last_by_file_ns = LevelNs(rank, std::max(written, newest));
    }
  }
}

void FlightMoments::FindLast(const JoinedGroup& group) {
  std::map<int64_t, int64_t> left_ns;  // by sequence number: the first rank that has left
  for (const auto& [rank, member] : group.members) {
    for (const auto& [sequence, step] : member.collectives) {
      if (!member.HasLeft(step.last()).value_or(false) || !IsSynchronisingStep(member, step))
        continue;
      int64_t& first = left_ns.emplace(sequence, INT64_MAX).first->second;
      if (EndOf(step) > 0) first = std::min(first, LevelNs(rank, EndOf(step)));
    }
  }
  if (left_ns.empty()) return;
  groups_[&group].newest_left = left_ns.rbegin()->first;
  for (const auto& [rank, member] : group.members) {
    const int64_t entered = member.LastEntered();
    if (entered == kNotInDump || entered >= left_ns.rbegin()->first) continue;
    Dump& dump = dumps_[rank];
    dump.is_early = has_early_ = true;
    for (auto at = left_ns.upper_bound(entered); at != left_ns.end(); ++at)
      dump.last_ns = std::min(dump.last_ns, at->second);
  }
}

// A message that was received was sent. Rings that have lost their begin are not compared.
void FlightMoments::FindLastOfMessages(const JoinedGroup& group) {
  std::map<std::pair<int32_t, int32_t>, size_t> sent;
  for (const auto& [rank, member] : group.members) {
    for (const FlightEntry* entry : member.messages)
      if (group.RankAt(entry->from) == rank) ++sent[{rank, group.RankAt(entry->to)}];
  }
  std::map<std::pair<int32_t, int32_t>, size_t> received;
  for (const auto& [rank, member] : group.members) {
    for (const FlightEntry* entry : member.messages) {
      const int32_t from = group.RankAt(entry->from);
      if (from < 0 || from == rank || group.RankAt(entry->to) != rank) continue;
      const size_t number = ++received[{from, rank}];
      const auto sender = group.members.find(from);
      if (sender == group.members.end() || sender->second.dump->HasLostBegin() ||
          member.dump->HasLostBegin() || number <= sent[{from, rank}] ||
          !member.HasLeft(*entry).value_or(false))
        continue;
      Dump& dump = dumps_[from];
      dump.is_early = has_early_ = true;
      if (entry->completed_ns > 0)
        dump.last_ns = std::min(dump.last_ns, LevelNs(rank, entry->completed_ns));
    }
  }
}

int64_t FlightMoments::LevelNs(int32_t rank, int64_t time_ns) const {
  const auto found = dumps_.find(rank);
  if (time_ns <= 0 || found == dumps_.end()) return kNotInDump;
  return time_ns - found->second.ahead_ns;
}

int64_t FlightMoments::LastNs(int32_t rank) const {
  const auto found = dumps_.find(rank);
  if (found == dumps_.end()) return INT64_MAX;
  return std::min(found->second.last_ns, found->second.last_by_file_ns);
}

std::optional<int64_t> FlightMoments::EarlierNs(int32_t rank) const {
  const auto found = dumps_.find(rank);
  if (found == dumps_.end() || !found->second.is_early) return std::nullopt;
  if (found->second.last_ns == INT64_MAX || newest_ns_ == kNotInDump) return 0;
  return std::max<int64_t>(newest_ns_ - found->second.last_ns, 0);
}

bool FlightMoments::IsEarlier(const JoinedGroup& group, const FlightMember& member) const {
  const int64_t entered = member.LastEntered();
  return entered != kNotInDump && HasAnyLeftLater(group, entered);
}

bool FlightMoments::HasAnyLeftLater(const JoinedGroup& group, int64_t sequence) const {
  const auto found = groups_.find(&group);
  return found != groups_.end() && found->second.newest_left > sequence;
}

FlightMoments::Verdict FlightMoments::Judge(const JoinedGroup& group,
                                            const std::vector<int32_t>& lacking,
                                            const std::vector<int32_t>& waiting,
                                            int64_t since_ns) const {
  if (since_ns == kNotInDump) return has_early_ ? Verdict::kUndecided : Verdict::kPerhaps;
  const auto found = groups_.find(&group);
  const int64_t usual =
      since_ns + (found == groups_.end() ? kLeastPauseNs : found->second.pause_ns);
  const auto is_written_late = [&](int32_t rank) {
    const auto dump = dumps_.find(rank);
    return dump != dumps_.end() && dump->second.first_ns >= usual;
  };
  const auto is_written_soon = [&](int32_t rank) { return LastNs(rank) <= usual; };
  if (std::all_of(lacking.begin(), lacking.end(), is_written_late)) return Verdict::kLacking;
  const bool is_short =
      std::all_of(lacking.begin(), lacking.end(), is_written_soon) ||
      (!waiting.empty() && std::all_of(waiting.begin(), waiting.end(), is_written_soon));
  return is_short || has_early_ ? Verdict::kUndecided : Verdict::kPerhaps;
}

}  // namespace gpuprof::analysis
