// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The ranks of a job, the groups in which they communicate, and which of their collectives belong
// together. Pure, any thread; FindJobRanks starts threads for the duration of the call.
//
// Collectives of one group are matched by their number in the group. Some traces do not have it.
// Then they are matched by their order. A recording may begin or end at another collective than
// those of other ranks. All ranks have the result of a collective at nearly the same time. So the
// right match is the one whose ends are nearest to each other.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/derived/collective_entries.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// A device of a process that enters collectives, or the host's part of a process.
struct JobRank {
  const Process* process = nullptr;
  size_t index = 0;                // of the process
  std::optional<uint32_t> number;  // that the launcher gave; none: not known
  std::optional<uint32_t> of;      // how many there are; none: not known
  RankEntries found;

  std::string_view NameOf(const CollectiveEntry& entry) const;
};

// Finds the ranks of the list, without earlier lives of a rank that was started anew.
std::vector<JobRank> FindJobRanks(const std::vector<const Process*>& processes);

enum class GroupMatch {
  kMatched,
  kOneRank,         // the trace has one rank of the group alone
  kDifferentOrder,  // ranks entered different collectives, or in another order
  kUnplaced,        // recordings begin at different collectives, and no ends tell at which
  kClocks,          // clocks of machines differ, and no ends tell how far
  kSeveralGroups,   // groups of the same name, or without one, cannot be told apart
};

// Collectives that belong together: the entries of all members, in the order of the members.
struct Communicator {
  std::string name;  // "3"; empty: the trace does not name the group
  std::string description;
  uint32_t size = 0;            // 0: not known
  uint32_t nodes = 0;           // machines of its ranks, as the communicator says; 0: not known
  std::vector<uint32_t> ranks;  // of the whole job; empty: not known
  std::vector<size_t> members;  // indices of the job's ranks that the trace has
  GroupMatch match = GroupMatch::kOneRank;
  bool by_sequence = false;
  bool is_whole = false;  // the trace has all ranks of the group, so the last arrival is known
  uint64_t recorded_count = 0;                        // entries of all members
  uint64_t message_count = 0;                         // those of them that are sends and receives
  std::array<uint64_t, kCollectiveKinds> of_kinds{};  // recorded_count by kind
  uint64_t unmatched_count = 0;  // entries that another member lacks, or has another collective for
  // Entries by collective, then by member.
  std::vector<uint32_t> entries;
  size_t collectives() const { return members.empty() ? 0 : entries.size() / members.size(); }
  // Messages of two members.
  struct Message {
    size_t sender = 0, receiver = 0;  // indices of the job's ranks
    uint32_t sent = 0, received = 0;  // entries
  };
  std::vector<Message> messages;
};

struct JobGroups {
  std::vector<Communicator> groups;  // those with the most members first
  // By rank and RankEntries::groups: the index in `groups`. The last one is of entries without a
  // group. kNoGroup: the rank has no entry in it.
  std::vector<std::vector<uint32_t>> of_ranks;
};

// Finds the groups, and matches their collectives.
JobGroups FindJobGroups(const std::vector<JobRank>& ranks);

}  // namespace gpuprof::analysis
