// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See flight_groups.h.

#include "analysis/passes/host/flight_groups.h"

#include <algorithm>
#include <set>

namespace gpuprof::analysis {
namespace {

// Finds the group of another rank that is the same: by its name, and by its ranks if both tell
// them.
JoinedGroup* FindJoined(std::vector<JoinedGroup>* groups, const FlightGroup& group) {
  const std::set<int32_t> ranks(group.ranks.begin(), group.ranks.end());
  for (JoinedGroup& joined : *groups) {
    if (joined.name != group.name) continue;
    if (ranks.empty() || joined.ranks.empty() ||
        std::set<int32_t>(joined.ranks.begin(), joined.ranks.end()) == ranks)
      return &joined;
  }
  return nullptr;
}

// Says which ranks a group has if no dump tells it.
void FillRanks(const std::vector<const FlightDump*>& dumps, JoinedGroup* group) {
  if (!group->ranks.empty()) return;
  std::set<int32_t> ranks;
  for (const auto& [rank, member] : group->members) ranks.insert(rank);
  if (group->description == "default_pg" || group->name == "0" || group->name == "default_pg") {
    constexpr int32_t kMostRanks = 1'000'000;
    int32_t size = 0;
    for (const FlightDump* dump : dumps)
      size = std::max(size, std::min(dump->world_size, kMostRanks));
    for (int32_t rank = 0; rank < size; ++rank) ranks.insert(rank);
  }
  group->ranks.assign(ranks.begin(), ranks.end());
}

void AddEntry(const FlightEntry& entry, FlightMember* member) {
  if (entry.state == FlightState::kStarted || entry.state == FlightState::kCompleted ||
      entry.started_ns != kNotInDump)
    member->has_states = true;
  if (entry.is_message) {
    member->messages.push_back(&entry);
  } else if (entry.sequence != kNotInDump) {
    member->collectives[entry.sequence].parts.push_back(&entry);
  }
}

}  // namespace

int64_t FlightMember::LastEntered() const {
  int64_t last = collectives.empty() ? kNotInDump : collectives.rbegin()->first;
  if (group->last_enqueued >= 0) last = std::max(last, group->last_enqueued);
  return last;
}

int64_t FlightMember::FirstKnown() const {
  if (!dump->HasLostBegin()) return INT64_MIN;
  if (!collectives.empty()) return collectives.begin()->first;
  return LastEntered() == kNotInDump ? INT64_MAX : LastEntered() + 1;
}

std::optional<bool> FlightMember::HasLeft(const FlightEntry& entry) const {
  if (entry.state == FlightState::kCompleted || entry.completed_ns != kNotInDump) return true;
  if (!entry.is_message && group->last_completed >= 0 && entry.sequence != kNotInDump &&
      entry.sequence <= group->last_completed)
    return true;
  if (has_states) return false;
  // A library that notes no states retires what has ended.
  if (entry.is_retired) return true;
  if (!entry.is_message && group->last_completed >= 0) return false;
  return std::nullopt;
}

std::vector<JoinedGroup> JoinFlightDumps(const std::vector<const FlightDump*>& dumps) {
  std::vector<JoinedGroup> groups;
  // Groups that tell their ranks come first, so that the others find them.
  for (const bool tells_ranks : {true, false}) {
    for (const FlightDump* dump : dumps) {
      for (const FlightGroup& group : dump->groups) {
        if (group.ranks.empty() == tells_ranks) continue;
        JoinedGroup* joined = FindJoined(&groups, group);
        if (joined == nullptr) joined = &groups.emplace_back();
        if (joined->name.empty()) joined->name = group.name;
        if (joined->description.empty()) joined->description = group.description;
        if (joined->ranks.empty()) joined->ranks = group.ranks;
      }
    }
  }
  static const FlightGroup kUnknownGroup;
  for (const FlightDump* dump : dumps) {
    std::vector<JoinedGroup*> joined_of;
    for (const FlightGroup& group : dump->groups) joined_of.push_back(FindJoined(&groups, group));
    for (const FlightEntry& entry : dump->entries) {
      FlightMember& member = joined_of[entry.group]->members[dump->rank];
      if (member.dump == nullptr) member = {dump->rank, dump, &dump->groups[entry.group]};
      AddEntry(entry, &member);
    }
    // A rank may have entered nothing, or all may have left its ring.
    for (size_t i = 0; i < dump->groups.size(); ++i) {
      const std::vector<int32_t>& ranks = joined_of[i]->ranks;
      if (std::find(ranks.begin(), ranks.end(), dump->rank) == ranks.end()) continue;
      FlightMember& member = joined_of[i]->members[dump->rank];
      if (member.dump == nullptr) member = {dump->rank, dump, &dump->groups[i]};
    }
  }
  for (JoinedGroup& group : groups) {
    FillRanks(dumps, &group);
    // A rank may not even have made the group.
    for (const FlightDump* dump : dumps) {
      if (std::find(group.ranks.begin(), group.ranks.end(), dump->rank) == group.ranks.end())
        continue;
      FlightMember& member = group.members[dump->rank];
      if (member.dump == nullptr) member = {dump->rank, dump, &kUnknownGroup};
    }
    for (auto& [rank, member] : group.members) {
      for (auto& [sequence, step] : member.collectives)
        std::stable_sort(step.parts.begin(), step.parts.end(),
                         [](const auto* x, const auto* y) { return x->order < y->order; });
    }
    for (const int32_t rank : group.ranks)
      if (!group.members.contains(rank)) group.unknown.push_back(rank);
  }
  // A configuration that nobody has used says nothing.
  std::erase_if(groups, [](const JoinedGroup& group) {
    return std::all_of(group.members.begin(), group.members.end(), [](const auto& each) {
      return each.second.collectives.empty() && each.second.messages.empty() &&
             each.second.group->last_enqueued < 0;
    });
  });
  return groups;
}

FlightSignature SignatureOf(const FlightMember& member, const FlightStep& step) {
  const FlightDump& dump = *member.dump;
  FlightSignature signature;
  for (const FlightEntry* part : step.parts) {
    const auto add = [](const std::string& text, std::string* all) {
      if (!text.empty()) *all += (all->empty() ? "" : ", ") + text;
    };
    add(dump.text(part->operation), &signature.operation);
    add(dump.text(part->input_sizes), &signature.input_sizes);
    add(dump.text(part->output_sizes), &signature.output_sizes);
    const std::string& types = dump.text(part->input_types);
    add(types.empty() ? dump.text(part->output_types) : types, &signature.types);
  }
  return signature;
}

}  // namespace gpuprof::analysis
