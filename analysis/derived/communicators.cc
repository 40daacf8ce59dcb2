// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/communicators.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/derived/gloo_groups.h"
#include "analysis/derived/shared_moments.h"
#include "analysis/model/process_groups.h"
#include "analysis/model/process_name.h"

namespace gpuprof::analysis {
namespace {

// The number of a collective, among those of the kind; kUnknown: among all of the group.
using GroupNumber = std::pair<CollectiveKind, int64_t>;

// The collectives of one member, in their order.
struct MemberEntries {
  size_t rank = 0;
  std::vector<uint32_t> entries;
  std::vector<GroupNumber> numbers;     // of the entries
  std::vector<uint32_t> repeats;        // of the entries: how many before have the same number
  std::vector<std::string_view> names;  // of the entries, for matching by order
  int64_t shift = 0;                    // entry i + shift belongs to entry i of the reference

  int64_t count() const { return static_cast<int64_t>(entries.size()); }
};

class GroupMatcher {
 public:
  GroupMatcher(const std::vector<JobRank>& ranks, Communicator* group)
      : ranks_(ranks), group_(*group) {}

  // Matches the collectives of the members.
  void Match(std::vector<MemberEntries> members) {
    members_ = std::move(members);
    if (members_.size() < 2) return;
    group_.by_sequence =
        std::all_of(members_.begin(), members_.end(), [&](const MemberEntries& member) {
          return std::any_of(member.entries.begin(), member.entries.end(),
                             [&](uint32_t entry) { return EntryOf(member, entry).sequence >= 0; });
        });
    if (group_.by_sequence) {
      MatchBySequence();
    } else {
      MatchByOrder();
    }
  }

 private:
  const CollectiveEntry& EntryOf(const MemberEntries& member, uint32_t entry) const {
    return ranks_[member.rank].found.entries[entry];
  }
  const CollectiveEntry& At(const MemberEntries& member, int64_t place) const {
    return EntryOf(member, member.entries[static_cast<size_t>(place)]);
  }

  // Returns the number of the entry, and how many entries before it have the same number: those of
  // one call of the program that sends several tensors.
  static std::pair<GroupNumber, uint32_t> KeyOf(const MemberEntries& member, size_t place) {
    return {member.numbers[place], member.repeats[place]};
  }

  // An entry without a number (a graph that runs again) has that of the entry before it. Of those
  // before the first number nothing tells how many came before the recording.
  void SortByNumber(MemberEntries* member) const {
    std::vector<std::pair<GroupNumber, uint32_t>> numbered;
    GroupNumber number = {CollectiveKind::kUnknown, -1};
    for (const uint32_t place : member->entries) {
      const CollectiveEntry& entry = EntryOf(*member, place);
      const CollectiveKind among = entry.is_of_kind ? entry.kind : CollectiveKind::kUnknown;
      if (entry.sequence >= 0) number = {among, entry.sequence};
      if (number.second >= 0) numbered.emplace_back(number, place);
    }
    std::stable_sort(numbered.begin(), numbered.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    member->entries.clear();
    for (const auto& [own, entry] : numbered) {
      const bool is_repeat = !member->numbers.empty() && member->numbers.back() == own;
      member->repeats.push_back(is_repeat ? member->repeats.back() + 1 : 0);
      member->numbers.push_back(own);
      member->entries.push_back(entry);
    }
  }

  bool IsSame(const MemberEntries& a, uint32_t x, const MemberEntries& b, uint32_t y) const {
    const CollectiveEntry& one = EntryOf(a, x);
    const CollectiveEntry& other = EntryOf(b, y);
    if (one.kind != other.kind) return false;
    return one.kind != CollectiveKind::kUnknown ||
           ranks_[a.rank].NameOf(one) == ranks_[b.rank].NameOf(other);
  }

  size_t Shortest() const {
    const auto least = std::min_element(members_.begin(), members_.end(),
                                        [](const MemberEntries& a, const MemberEntries& b) {
                                          return a.entries.size() < b.entries.size();
                                        });
    return static_cast<size_t>(least - members_.begin());
  }

  void MatchBySequence() {
    for (MemberEntries& member : members_) SortByNumber(&member);
    const MemberEntries& reference = members_[Shortest()];
    std::vector<size_t> next(members_.size(), 0);
    std::vector<uint32_t> found(members_.size());
    uint64_t different = 0;
    for (size_t i = 0; i < reference.entries.size(); ++i) {
      const auto key = KeyOf(reference, i);
      bool is_whole = true, is_same = true;
      for (size_t m = 0; m < members_.size(); ++m) {
        const MemberEntries& member = members_[m];
        size_t& at = next[m];
        while (at < member.entries.size() && KeyOf(member, at) < key) ++at;
        is_whole &= at < member.entries.size() && KeyOf(member, at) == key;
        if (!is_whole) break;
        found[m] = member.entries[at];
        is_same &= IsSame(reference, reference.entries[i], member, found[m]);
      }
      if (!is_whole) continue;
      if (!is_same) {
        ++different;
        continue;
      }
      group_.entries.insert(group_.entries.end(), found.begin(), found.end());
    }
    SortByTime();
    group_.match = !group_.entries.empty() && different <= group_.collectives()
                       ? GroupMatch::kMatched
                   : different != 0 ? GroupMatch::kDifferentOrder
                                    : GroupMatch::kUnplaced;
    if (group_.match != GroupMatch::kMatched) group_.entries.clear();
  }

  // Orders the collectives by the begin at the first member, as numbers may be of one kind.
  void SortByTime() {
    const size_t count = members_.size();
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t i = 0; i < group_.entries.size() / count; ++i)
      order.emplace_back(EntryOf(members_.front(), group_.entries[i * count]).start_ns, i);
    if (std::is_sorted(order.begin(), order.end())) return;
    std::sort(order.begin(), order.end());
    const std::vector<uint32_t> before = std::move(group_.entries);
    group_.entries.clear();
    for (const auto& [start, i] : order)
      for (size_t m = 0; m < count; ++m) group_.entries.push_back(before[i * count + m]);
  }

  // Entries of the reference that two members share: [first, last).
  static std::pair<int64_t, int64_t> Shared(const MemberEntries& reference,
                                            const MemberEntries& member, int64_t shift) {
    return {std::max<int64_t>(0, -shift), std::min(reference.count(), member.count() - shift)};
  }

  static bool HaveSameNames(const MemberEntries& reference, const MemberEntries& member,
                            int64_t shift) {
    const auto [first, last] = Shared(reference, member, shift);
    for (int64_t i = first; i < last; ++i) {
      if (reference.names[static_cast<size_t>(i)] != member.names[static_cast<size_t>(i + shift)])
        return false;
    }
    return first < last;
  }

  // Returns how far the ends of the member are from those of the reference.
  std::vector<int64_t> Distances(const MemberEntries& reference, const MemberEntries& member,
                                 int64_t shift) const {
    std::vector<int64_t> distances;
    const auto [first, last] = Shared(reference, member, shift);
    for (int64_t i = first; i < last; ++i) {
      const auto& ours = At(member, i + shift).done_ns;
      const auto& theirs = At(reference, i).done_ns;
      if (ours && theirs) distances.push_back(std::abs(*ours - *theirs));
    }
    return distances;
  }

  // Returns shifts at which the member may belong to the reference: equal begins, equal ends, and
  // equal times.
  std::vector<int64_t> Candidates(const MemberEntries& reference,
                                  const MemberEntries& member) const {
    constexpr int64_t kAround = 3;
    std::vector<int64_t> shifts = {0, member.count() - reference.count()};
    const int64_t middle = reference.count() / 2;
    const int64_t time = At(reference, middle).start_ns;
    const auto after = std::partition_point(
        member.entries.begin(), member.entries.end(),
        [&](uint32_t entry) { return EntryOf(member, entry).start_ns < time; });
    for (int64_t i = -kAround; i <= kAround; ++i)
      shifts.push_back((after - member.entries.begin()) - middle + i);
    return shifts;
  }

  // Returns the median as Samples does. There is one.
  static int64_t LowerMedian(std::vector<int64_t> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  // Finds where the member belongs to the reference.
  GroupMatch Place(const MemberEntries& reference, MemberEntries* member) const {
    std::optional<int64_t> best;
    bool has_names = false;
    for (const int64_t shift : Candidates(reference, *member)) {
      const auto [first, last] = Shared(reference, *member, shift);
      // A shift that leaves little in common says little.
      if ((last - first) * 2 < reference.count() || !HaveSameNames(reference, *member, shift))
        continue;
      has_names = true;
      std::vector<int64_t> distances = Distances(reference, *member, shift);
      if (distances.empty()) continue;
      const int64_t median = LowerMedian(std::move(distances));
      // Equal begins were tried first. Others must be clearly nearer.
      if (best && median >= *best / 2) continue;
      best = median;
      member->shift = shift;
      if (median / 2 == 0) break;  // nothing is clearly nearer
    }
    if (best) return GroupMatch::kMatched;
    if (!has_names) return GroupMatch::kDifferentOrder;
    // Without ends, only recordings of the same length belong together.
    if (member->count() != reference.count() || !HaveSameNames(reference, *member, 0))
      return GroupMatch::kUnplaced;
    member->shift = 0;
    return GroupMatch::kMatched;
  }

  void MatchByOrder() {
    for (MemberEntries& member : members_)
      for (const uint32_t entry : member.entries)
        member.names.push_back(ranks_[member.rank].NameOf(EntryOf(member, entry)));
    const MemberEntries& reference = members_[Shortest()];
    group_.match = GroupMatch::kMatched;
    int64_t first = 0, last = reference.count();
    for (MemberEntries& member : members_) {
      if (&member != &reference) group_.match = Place(reference, &member);
      if (group_.match != GroupMatch::kMatched) return;
      const auto [from, to] = Shared(reference, member, member.shift);
      first = std::max(first, from);
      last = std::min(last, to);
    }
    for (int64_t i = first; i < last; ++i)
      for (const MemberEntries& member : members_)
        group_.entries.push_back(member.entries[static_cast<size_t>(i + member.shift)]);
    // A kernel that one recording lacks moves all later ones, and is no other group.
    const bool is_of_host = !ranks_[reference.rank].found.device;
    if (group_.name.empty() && is_of_host && !AreTogether()) {
      group_.match = GroupMatch::kSeveralGroups;
      group_.entries.clear();
    }
  }

  // Returns whether the members can have entered together what belongs together by its order. If
  // not, collectives of several groups of ranks follow each other here.
  bool AreTogether() const {
    std::vector<std::vector<CollectiveMoment>> moments(members_.size());
    for (size_t i = 0; i < group_.entries.size(); ++i) {
      const size_t m = i % members_.size();
      const CollectiveEntry& entry = EntryOf(members_[m], group_.entries[i]);
      moments[m].push_back({entry.start_ns, entry.done_ns, entry.kind, std::nullopt});
    }
    return std::all_of(moments.begin(), moments.end(), [&](const auto& of_member) {
      return CanBeShared(moments.front(), of_member);
    });
  }

  const std::vector<JobRank>& ranks_;
  Communicator& group_;
  std::vector<MemberEntries> members_;
};

// The sends and receives of a group, by sender and receiver, each in their order.
using MessagesOfPairs =
    std::map<std::pair<uint32_t, uint32_t>, std::pair<std::vector<std::pair<size_t, uint32_t>>,
                                                      std::vector<std::pair<size_t, uint32_t>>>>;

// Joins sends with receives if the trace has as many of the one as of the other.
void MatchMessages(const MessagesOfPairs& pairs, Communicator* group) {
  for (const auto& [pair, sides] : pairs) {
    const auto& [sent, received] = sides;
    // Recordings that begin at different messages do not tell which belong together, unless both
    // kernels end together.
    if (sent.size() != received.size()) {
      group->unmatched_count += sent.size() + received.size();
      continue;
    }
    for (size_t i = 0; i < sent.size(); ++i)
      group->messages.push_back(
          {sent[i].first, received[i].first, sent[i].second, received[i].second});
  }
  if (!group->messages.empty() && group->match != GroupMatch::kMatched)
    group->match = GroupMatch::kMatched;
}

struct GroupOfJob {
  Communicator group;
  std::vector<MemberEntries> members;
  MessagesOfPairs messages;
  size_t job_size = 0;    // as the launcher said; 0: not known
  bool is_mixed = false;  // nothing tells which of several groups of ranks it is
};

class CommunicatorFinder {
 public:
  explicit CommunicatorFinder(const std::vector<JobRank>& ranks) : ranks_(ranks) {}

  JobGroups Find() {
    for (size_t i = 0; i < ranks_.size(); ++i) AddRank(i);
    std::vector<GroupOfJob*> order;
    for (auto& [key, each] : groups_) order.push_back(&each);
    std::stable_sort(order.begin(), order.end(), [](const GroupOfJob* a, const GroupOfJob* b) {
      return a->group.members.size() > b->group.members.size();
    });
    JobGroups found;
    std::unordered_map<const GroupOfJob*, uint32_t> numbers;
    for (GroupOfJob* each : order) {
      numbers.emplace(each, static_cast<uint32_t>(found.groups.size()));
      found.groups.push_back(Finish(each));
    }
    for (const std::vector<GroupOfJob*>& of_rank : of_ranks_) {
      std::vector<uint32_t>& row = found.of_ranks.emplace_back();
      for (const GroupOfJob* each : of_rank)
        row.push_back(each == nullptr ? kNoGroup : numbers.at(each));
    }
    return found;
  }

 private:
  // Groups of one name have different ranks if programs number their groups by themselves.
  using Key = std::tuple<std::string, std::string, uint32_t>;  // name, ranks as written, size

  GroupOfJob& GroupFor(const EntryGroup* known) {
    if (known == nullptr) return groups_[Key()];
    const std::string ranks =
        known->first_ranks.empty() ? ShortRankList(known->ranks) : known->first_ranks;
    GroupOfJob& of_job = groups_[Key(known->name, ranks, known->size)];
    Communicator& group = of_job.group;
    group.name = known->name;
    if (group.ranks.empty()) group.ranks = known->ranks;
    group.size = known->size;
    if (group.description.empty()) group.description = known->description;
    group.nodes = std::max(group.nodes, known->nodes);
    return of_job;
  }

  static bool HasGroupsOfDifferentRanks(const RankEntries& found) {
    return std::any_of(found.groups.begin(), found.groups.end(), [&](const EntryGroup& group) {
      return group.ranks != found.groups.front().ranks;
    });
  }

  void AddRank(size_t number) {
    const RankEntries& found = ranks_[number].found;
    std::vector<GroupOfJob*>& of_job = of_ranks_.emplace_back(found.groups.size() + 1);
    const auto group_of = [&](uint32_t group) {
      const size_t place = group == kNoGroup ? found.groups.size() : group;
      if (of_job[place] == nullptr)
        of_job[place] = &GroupFor(group == kNoGroup ? nullptr : &found.groups[group]);
      GroupOfJob* each = of_job[place];
      if (each->members.empty() || each->members.back().rank != number) {
        each->members.emplace_back().rank = number;
        each->group.members.push_back(number);
        each->is_mixed |= group == kNoGroup && HasGroupsOfDifferentRanks(found);
        each->job_size = std::max<size_t>(each->job_size, ranks_[number].of.value_or(0));
      }
      return each;
    };
    for (uint32_t i = 0; i < found.entries.size(); ++i) {
      const CollectiveEntry& entry = found.entries[i];
      GroupOfJob* each = group_of(entry.group);
      ++each->group.recorded_count;
      ++each->group.of_kinds[static_cast<size_t>(entry.kind)];
      if (!IsMessage(entry.kind)) {
        each->members.back().entries.push_back(i);
        continue;
      }
      ++each->group.message_count;
      AddMessage(number, i, each);
    }
  }

  // Returns the number by which others of the entry's group name this rank.
  std::optional<uint32_t> OwnRankOf(size_t number, const CollectiveEntry& entry) const {
    const RankEntries& found = ranks_[number].found;
    const int32_t own = entry.group == kNoGroup ? -1 : found.groups[entry.group].own_rank;
    return own >= 0 ? std::optional<uint32_t>(static_cast<uint32_t>(own)) : ranks_[number].number;
  }

  void AddMessage(size_t number, uint32_t i, GroupOfJob* each) {
    const CollectiveEntry& entry = ranks_[number].found.entries[i];
    const std::optional<uint32_t> in_group = OwnRankOf(number, entry);
    if (entry.peer < 0 || !in_group) {
      ++each->group.unmatched_count;
      return;
    }
    const uint32_t own = *in_group, peer = static_cast<uint32_t>(entry.peer);
    if (entry.kind == CollectiveKind::kSend) {
      each->messages[{own, peer}].first.emplace_back(number, i);
    } else {
      each->messages[{peer, own}].second.emplace_back(number, i);
    }
  }

  // Returns the numbers of the members in the job. Empty: one of them is not known.
  std::vector<uint32_t> NumbersOf(const std::vector<size_t>& members) const {
    std::vector<uint32_t> numbers;
    for (const size_t member : members) {
      if (!ranks_[member].number) return {};
      numbers.push_back(*ranks_[member].number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  Communicator Finish(GroupOfJob* each) {
    Communicator& group = each->group;
    const uint64_t all = group.recorded_count - group.message_count;
    group.is_whole = group.name.empty() ? group.members.size() >= each->job_size
                                        : group.size != 0 && group.members.size() >= group.size;
    const bool is_listed = !group.ranks.empty() || group.name.empty();
    if (group.is_whole && !is_listed) group.ranks = NumbersOf(group.members);
    if (each->is_mixed || (group.size != 0 && group.members.size() > group.size)) {
      group.match = GroupMatch::kSeveralGroups;
      group.unmatched_count = group.recorded_count;
      return std::move(group);
    }
    // A member may send messages alone.
    std::vector<MemberEntries> members;
    for (MemberEntries& member : each->members)
      if (!member.entries.empty()) members.push_back(std::move(member));
    const bool all_enter = members.size() == group.members.size();
    if (members.size() > 1 && all_enter) GroupMatcher(ranks_, &group).Match(std::move(members));
    if (group.members.size() > 1 && !all_enter && !members.empty())
      group.match = GroupMatch::kUnplaced;
    group.unmatched_count = all - group.entries.size();
    MatchMessages(each->messages, &group);
    return std::move(group);
  }

  const std::vector<JobRank>& ranks_;
  std::map<Key, GroupOfJob> groups_;
  std::vector<std::vector<GroupOfJob*>> of_ranks_;  // as JobGroups::of_ranks
};

}  // namespace

std::string_view JobRank::NameOf(const CollectiveEntry& entry) const {
  const auto name = process->strings.find(entry.name);
  return name == process->strings.end() ? std::string_view() : std::string_view(name->second);
}

std::vector<JobRank> FindJobRanks(const std::vector<const Process*>& processes) {
  std::map<uint32_t, std::vector<size_t>> by_number;
  std::vector<std::optional<uint32_t>> numbers(processes.size()), sizes(processes.size());
  for (size_t i = 0; i < processes.size(); ++i) {
    const auto rank = RankOf(*processes[i]);
    if (!rank) continue;
    numbers[i] = rank->number;
    sizes[i] = rank->of;
    by_number[rank->number].push_back(i);
  }
  const auto is_earlier_life = [&](size_t index) {
    if (!numbers[index]) return false;
    const int64_t end = processes[index]->LifeEnd();
    const std::vector<size_t>& same = by_number[*numbers[index]];
    return std::any_of(same.begin(), same.end(), [&](size_t other) {
      return other != index && processes[other]->LifeStart() >= end;
    });
  };
  std::vector<std::vector<RankEntries>> found(processes.size());
  ParallelFor(processes.size(), ThreadCount(0),
              [&](size_t i, int) { found[i] = FindCollectiveEntries(*processes[i]); });
  std::vector<JobRank> ranks;
  for (size_t i = 0; i < processes.size(); ++i) {
    if (found[i].empty() || is_earlier_life(i)) continue;
    for (RankEntries& each : found[i]) {
      JobRank& rank = ranks.emplace_back();
      rank.process = processes[i];
      rank.index = i;
      if (found[i].size() == 1) rank.number = numbers[i];
      rank.of = sizes[i];
      rank.found = std::move(each);
    }
  }
  // The host's arrival at a collective of GPUs is another moment than that of its kernel.
  const bool has_kernels = std::any_of(ranks.begin(), ranks.end(),
                                       [](const JobRank& rank) { return rank.found.device; });
  if (has_kernels) std::erase_if(ranks, [](const JobRank& rank) { return !rank.found.device; });
  std::vector<RankEntries*> host_ranks;
  for (JobRank& rank : ranks)
    if (!rank.found.device) host_ranks.push_back(&rank.found);
  FindGlooGroups(host_ranks);
  return ranks;
}

JobGroups FindJobGroups(const std::vector<JobRank>& ranks) {
  return CommunicatorFinder(ranks).Find();
}

}  // namespace gpuprof::analysis
