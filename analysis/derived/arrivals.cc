// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See arrivals.h.

#include "analysis/derived/arrivals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/derived/rank_clocks.h"

namespace gpuprof::analysis {
namespace {

ArrivalMatch MatchOfGroup(GroupMatch match) {
  switch (match) {
    case GroupMatch::kMatched:
      return ArrivalMatch::kMatched;
    case GroupMatch::kOneRank:
      return ArrivalMatch::kOneRank;
    case GroupMatch::kDifferentOrder:
      return ArrivalMatch::kDifferentOrder;
    case GroupMatch::kUnplaced:
      return ArrivalMatch::kUnplaced;
    case GroupMatch::kClocks:
      return ArrivalMatch::kClocks;
    case GroupMatch::kSeveralGroups:
      return ArrivalMatch::kSeveralGroups;
  }
  return ArrivalMatch::kUnplaced;
}

// One matched collective, or a message of two members.
struct Meeting {
  size_t group = 0;
  const Communicator::Message* message = nullptr;  // null: a collective
  size_t collective = 0;                           // its number among those of the group
  int64_t first_ns = 0, last_ns = 0;               // arrivals
  int64_t before_ns = 0;                           // the arrival before the last one
  size_t late = 0;                                 // the rank that came last
  size_t before = 0;                               // the rank before it
  size_t blamed = 0;                               // the rank whose work made the delay
  int64_t inherited_ns = 0;
};

// What was seen of a rank up to now.
struct RankState {
  const Meeting* meeting = nullptr;  // its last one; null: its end is not known
  int64_t done_ns = 0;               // the end of its last collective
  int64_t debt_ns = 0;               // how much later that end is because it waited for another
  size_t cause = 0;                  // the rank for which it waited
};

class ArrivalCounter {
 public:
  ArrivalCounter(const std::vector<JobRank>& ranks, const RankClocks& clocks, Arrivals* out)
      : ranks_(ranks), clocks_(clocks.clocks), out_(*out) {
    cursors_.resize(ranks_.size());
    for (size_t i = 0; i < ranks_.size(); ++i) {
      cursors_[i].assign(ranks_[i].process->tracks.size(), INT64_MIN);
      if (!ranks_[i].found.has_waits) continue;
      out_.ranks[i].waited_ns = 0;
      out_.ranks[i].exchange_ns = 0;
    }
    for (const ArrivalsOfGroup& group : out_.groups) errors_.push_back(clocks.ErrorOf(group.group));
  }

  // Finds the arrivals at all collectives, in the order of the last ones.
  void Count(const std::optional<Interval>& window) {
    for (size_t g = 0; g < out_.groups.size(); ++g)
      if (out_.groups[g].is_compared) AddGroup(g, window);
    std::stable_sort(meetings_.begin(), meetings_.end(),
                     [](const Meeting& a, const Meeting& b) { return a.last_ns < b.last_ns; });
    std::vector<RankState> states(ranks_.size());
    for (Meeting& meeting : meetings_) FindBlame(&states, &meeting);
    ChoosePairs();
    for (const Meeting& meeting : meetings_) Add(meeting);
    Finish();
  }

 private:
  const Communicator& GroupOf(const Meeting& meeting) const {
    return out_.groups[meeting.group].group;
  }

  // Calls visit(rank, entry, member) for all who meet.
  template <typename Visit>
  void ForEach(const Meeting& meeting, Visit visit) const {
    const Communicator& group = GroupOf(meeting);
    if (const Communicator::Message* message = meeting.message) {
      visit(message->sender, ranks_[message->sender].found.entries[message->sent]);
      visit(message->receiver, ranks_[message->receiver].found.entries[message->received]);
      return;
    }
    const size_t count = group.members.size();
    const uint32_t* entries = &group.entries[meeting.collective * count];
    for (size_t m = 0; m < count; ++m)
      visit(group.members[m], ranks_[group.members[m]].found.entries[entries[m]]);
  }

  int64_t StartOf(size_t rank, const CollectiveEntry& entry) const {
    return entry.start_ns + clocks_[rank].offset_ns;
  }
  std::optional<int64_t> DoneOf(size_t rank, const CollectiveEntry& entry) const {
    if (!entry.done_ns) return std::nullopt;
    return *entry.done_ns + clocks_[rank].offset_ns;
  }

  void AddGroup(size_t g, const std::optional<Interval>& window) {
    const Communicator& group = out_.groups[g].group;
    Meeting meeting;
    meeting.group = g;
    for (size_t i = 0; i < group.collectives(); ++i) {
      meeting.collective = i;
      AddMeeting(window, meeting);
    }
    for (const Communicator::Message& message : group.messages) {
      meeting.message = &message;
      AddMeeting(window, meeting);
    }
  }

  void AddMeeting(const std::optional<Interval>& window, Meeting meeting) {
    meeting.first_ns = INT64_MAX;
    meeting.last_ns = meeting.before_ns = INT64_MIN;
    ForEach(meeting, [&](size_t rank, const CollectiveEntry& entry) {
      const int64_t start = StartOf(rank, entry);
      meeting.first_ns = std::min(meeting.first_ns, start);
      if (start >= meeting.last_ns) {
        meeting.before_ns = meeting.last_ns;
        meeting.before = meeting.late;
        meeting.last_ns = start;
        meeting.late = rank;
      } else if (start > meeting.before_ns) {
        meeting.before_ns = start;
        meeting.before = rank;
      }
    });
    const bool is_outside =
        window && (meeting.first_ns < window->start || meeting.first_ns >= window->end);
    if (!is_outside) meetings_.push_back(meeting);
  }

  // Returns how much of the last rank's delay is of an earlier collective, and so is no delay of
  // its own: it waited for another rank there, or its delay was counted there.
  static int64_t InheritedOf(const Meeting& meeting, const RankState& late,
                             const RankState& before) {
    if (late.meeting == nullptr || before.meeting == nullptr) return 0;
    const int64_t lead = meeting.last_ns - meeting.before_ns;
    if (late.meeting == before.meeting) {
      // The rank before it went on while both were in the earlier collective: buckets.
      const Meeting& earlier = *late.meeting;
      const bool is_carried = earlier.late == meeting.late && earlier.message == nullptr &&
                              before.done_ns > meeting.before_ns;
      return is_carried ? std::clamp<int64_t>(earlier.last_ns - earlier.before_ns, 0, lead) : 0;
    }
    if (late.done_ns > meeting.last_ns || before.done_ns > meeting.before_ns) return 0;
    return std::clamp<int64_t>(late.done_ns - before.done_ns, 0, std::min(lead, late.debt_ns));
  }

  // Finds whose work made the last rank late, and keeps what the ranks did.
  void FindBlame(std::vector<RankState>* states, Meeting* meeting) const {
    const RankState& late = (*states)[meeting->late];
    const RankState& before = (*states)[meeting->before];
    const int64_t lead = meeting->last_ns - meeting->before_ns;
    meeting->inherited_ns = InheritedOf(*meeting, late, before);
    meeting->blamed = meeting->late;
    if (meeting->inherited_ns > lead / 2)
      meeting->blamed = late.meeting == before.meeting ? late.meeting->blamed : late.cause;
    // Who waits for a message waits for work. What is more than usual was inherited, if anything
    // was.
    const bool passes_on =
        meeting->message != nullptr && meeting->inherited_ns > errors_[meeting->group];
    const size_t cause = passes_on ? late.cause : meeting->blamed;
    ForEach(*meeting, [&](size_t rank, const CollectiveEntry& entry) {
      const std::optional<int64_t> done = DoneOf(rank, entry);
      RankState& state = (*states)[rank];
      state.meeting = done ? meeting : nullptr;
      state.done_ns = done.value_or(0);
      const int64_t early = meeting->last_ns - StartOf(rank, entry);
      if (rank == meeting->late) {
        KeepDebt(*meeting, &state);
      } else if (early > 0) {
        state.debt_ns = early;
        state.cause = cause;
      }
    });
  }

  // Sets what the last rank owes to ranks of other groups. Its own delay counts once: a later group
  // inherits it.
  static void KeepDebt(const Meeting& meeting, RankState* late) {
    constexpr int64_t kPart = 10;  // a much shorter delay of its own does not hide the older one
    const int64_t lead = meeting.last_ns - meeting.before_ns;
    const int64_t own = lead - meeting.inherited_ns;
    if (meeting.message != nullptr || own <= meeting.inherited_ns) {
      late->debt_ns = std::min(late->debt_ns, meeting.inherited_ns);
    } else if (own > late->debt_ns / kPart) {
      late->debt_ns = lead;
      late->cause = meeting.late;
    }
  }

  bool IsDecided(const Meeting& meeting) const {
    return meeting.last_ns - meeting.before_ns > errors_[meeting.group];
  }
  // Chooses the ranks for which waits of pairs are kept: those with the most leads.
  void ChoosePairs() {
    std::vector<int64_t> leads(ranks_.size(), 0);
    for (const Meeting& meeting : meetings_)
      if (meeting.message == nullptr && IsDecided(meeting))
        leads[meeting.late] += meeting.last_ns - meeting.before_ns;
    std::vector<size_t> order;
    for (size_t i = 0; i < ranks_.size(); ++i)
      if (leads[i] != 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return leads[a] > leads[b]; });
    const size_t most = std::max<size_t>(1, kMostWaits / std::max<size_t>(1, ranks_.size()));
    if (order.size() > most) order.resize(most);
    pairs_.resize(ranks_.size());
    for (const size_t late : order) pairs_[late].resize(ranks_.size());
  }

  void Add(const Meeting& meeting) {
    if (out_.matched_count == 0) out_.start_ns = meeting.first_ns;
    out_.start_ns = std::min(out_.start_ns, meeting.first_ns);
    out_.end_ns = std::max(out_.end_ns, meeting.last_ns);
    ++out_.matched_count;
    const int64_t lead = meeting.last_ns - meeting.before_ns;
    const bool is_decided = IsDecided(meeting);
    ArrivalsOfGroup& group = out_.groups[meeting.group];
    ++group.count;
    group.spread_ns += meeting.last_ns - meeting.first_ns;
    AddOp(meeting);
    if (meeting.message != nullptr) {
      // Who waits for a message waits for a result, and not for a rank that is late.
      group.early_ns += meeting.last_ns - meeting.first_ns;
      ForEach(meeting,
              [&](size_t rank, const CollectiveEntry& entry) { AddEntry(meeting, rank, entry); });
      return;
    }
    if (is_decided) {
      RankArrivals& late = out_.ranks[meeting.late];
      const int64_t own = lead - meeting.inherited_ns;
      ++late.last_count;
      late.lead_ns += own;
      late.inherited_ns += meeting.inherited_ns;
      AddToMember(meeting.late, own, &group);
      if (own > lead / 2 && own > errors_[meeting.group])
        out_.leads.push_back({meeting.late, meeting.group, own, meeting.before_ns});
    } else {
      ++out_.undecided_count;
    }
    ForEach(meeting, [&](size_t rank, const CollectiveEntry& entry) {
      AddRank(meeting, rank, entry, is_decided);
    });
  }

  static void AddToMember(size_t rank, int64_t lead, ArrivalsOfGroup* group) {
    const std::vector<size_t>& members = group->group.members;
    const auto at = std::lower_bound(members.begin(), members.end(), rank);
    const auto member = static_cast<size_t>(at - members.begin());
    group->lead_ns[member] += lead;
    ++group->last_count[member];
  }

  void AddOp(const Meeting& meeting) {
    std::string_view name;
    CollectiveKind kind = CollectiveKind::kUnknown;
    std::optional<uint64_t> bytes;
    // The latest end: where all need the data of all, the others are as near as the clocks are.
    std::optional<int64_t> done;
    bool has_ends = true;
    ForEach(meeting, [&](size_t rank, const CollectiveEntry& entry) {
      // One operation has kernels of several names: of rings and trees.
      if (name.empty() && entry.group != kNoGroup && ranks_[rank].found.device)
        name = KindName(entry.kind);
      if (name.empty()) name = ranks_[rank].NameOf(entry);
      if (kind == CollectiveKind::kUnknown) kind = entry.kind;
      if (entry.bytes) bytes = std::max(bytes.value_or(0), *entry.bytes);
      const std::optional<int64_t> end = DoneOf(rank, entry);
      has_ends &= end.has_value();
      if (end) done = std::max(done.value_or(*end), *end);
    });
    ArrivalsOfOp& op = ops_[{meeting.group, name, kind}];
    op.name = name;
    op.kind = kind;
    op.group = meeting.group;
    ++op.count;
    const int64_t spread = meeting.last_ns - meeting.first_ns;
    op.spread_ns += spread;
    if (spread >= op.max_spread_ns) {
      op.max_spread_ns = spread;
      op.max_start_ns = meeting.first_ns;
    }
    if (bytes) {
      op.all_bytes += *bytes;
      ++op.bytes_count;
    }
    // A message has both its ranks.
    const bool knows_last = meeting.message != nullptr || GroupOf(meeting).is_whole;
    const int64_t transfer = done.value_or(0) - meeting.last_ns;
    if (!has_ends || !knows_last || transfer <= 0) return;
    ++op.transfer_count;
    op.transfer_ns += transfer;
    if (!bytes) return;
    ++op.sized_count;
    op.sized_transfer_ns += transfer;
    op.bytes += *bytes;
  }

  void AddEntry(const Meeting& meeting, size_t index, const CollectiveEntry& entry) {
    const int64_t last = meeting.last_ns - clocks_[index].offset_ns;
    out_.ranks[index].entries.push_back(
        {entry.start_ns, last, std::max(entry.done_ns.value_or(last), last)});
  }

  void AddRank(const Meeting& meeting, size_t index, const CollectiveEntry& entry,
               bool is_decided) {
    const JobRank& rank = ranks_[index];
    const int64_t offset = clocks_[index].offset_ns;
    const int64_t last = meeting.last_ns - offset;  // by the rank's own clock
    RankArrivals& sums = out_.ranks[index];
    const int64_t early = last - entry.start_ns;
    sums.early_ns += early;
    AddEntry(meeting, index, entry);
    out_.groups[meeting.group].early_ns += early;
    int64_t waited = early;
    if (rank.found.has_waits) {
      // Several collectives may be under way at once: time counts for the first one alone.
      int64_t& cursor = cursors_[index][entry.track];
      const int64_t from = std::max(entry.start_ns, cursor);
      waited = Still(rank, entry.track, {from, last});
      cursor = std::max(cursor, last);
      *sums.waited_ns += waited;
      if (entry.done_ns && *entry.done_ns > cursor) {
        *sums.exchange_ns += Still(rank, entry.track, {cursor, *entry.done_ns});
        cursor = *entry.done_ns;
      }
    }
    if (!is_decided || index == meeting.late || early == 0) return;
    out_.ranks[meeting.blamed].caused_ns += waited;
    if (pairs_[meeting.late].empty()) return;
    RankWait& wait = pairs_[meeting.late][index];
    wait.waiter = index;
    wait.late = meeting.late;
    ++wait.count;
    wait.early_ns += early;
    if (rank.found.has_waits) wait.waited_ns = wait.waited_ns.value_or(0) + waited;
    if (early <= wait.max_ns) return;
    wait.max_ns = early;
    wait.max_start_ns = entry.start_ns + offset;
  }

  // How long the rank stood still in a window of its own clock.
  static int64_t Still(const JobRank& rank, uint32_t track, Interval window) {
    if (window.end <= window.start) return 0;
    // A kernel of a collective occupies its stream until it ends.
    if (rank.found.device) return window.length();
    return CoveredLength(rank.found.waits[track], window);
  }

  void Finish() {
    for (const std::vector<RankWait>& of_late : pairs_)
      for (const RankWait& wait : of_late)
        if (wait.count != 0) out_.waits.push_back(wait);
    std::stable_sort(out_.waits.begin(), out_.waits.end(), [](const auto& a, const auto& b) {
      return a.waited_ns.value_or(a.early_ns) > b.waited_ns.value_or(b.early_ns);
    });
    for (auto& [key, op] : ops_) out_.ops.push_back(std::move(op));
    std::stable_sort(out_.ops.begin(), out_.ops.end(),
                     [](const auto& a, const auto& b) { return a.spread_ns > b.spread_ns; });
  }

  const std::vector<JobRank>& ranks_;
  const std::vector<RankClocks::Clock>& clocks_;
  Arrivals& out_;
  std::vector<int64_t> errors_;  // by group
  std::vector<Meeting> meetings_;
  std::vector<std::vector<int64_t>> cursors_;  // by rank and track: the time up to which counted
  std::vector<std::vector<RankWait>> pairs_;   // by late rank, then by waiter
  std::map<std::tuple<size_t, std::string_view, CollectiveKind>, ArrivalsOfOp> ops_;
};

// Fills the groups. Returns what kept their ranks from being compared, if no group was matched.
ArrivalMatch FillGroups(std::vector<Communicator> groups, const RankClocks& clocks, Arrivals* out) {
  std::optional<ArrivalMatch> failure;
  bool is_matched = false;
  for (Communicator& group : groups) {
    if (group.match == GroupMatch::kMatched && !clocks.AreOfOneSet(group))
      group.match = GroupMatch::kClocks;
    ArrivalsOfGroup& row = out->groups.emplace_back();
    row.is_compared = group.match == GroupMatch::kMatched;
    is_matched |= row.is_compared;
    const bool is_reason = !row.is_compared && group.match != GroupMatch::kOneRank;
    if (is_reason && !failure) failure = MatchOfGroup(group.match);
    row.lead_ns.assign(group.members.size(), 0);
    row.last_count.assign(group.members.size(), 0);
    if (row.is_compared) out->clock_error_ns = std::max(out->clock_error_ns, clocks.ErrorOf(group));
    row.group = std::move(group);
  }
  return is_matched ? ArrivalMatch::kMatched : failure.value_or(ArrivalMatch::kOneRank);
}

// Returns whether the rank is a member of the group.
bool IsMember(const Arrivals& arrivals, size_t group, size_t rank) {
  const std::vector<size_t>& members = arrivals.groups[group].group.members;
  return std::binary_search(members.begin(), members.end(), rank);
}

// Finds the rank with the most leads. Some collectives make up most of all leads: only these count.
Straggler FindMostLate(const Arrivals& arrivals, uint64_t min_count) {
  constexpr double kMost = 0.9;  // of all leads
  std::vector<Lead> leads = arrivals.leads;
  Straggler late;
  for (size_t i = 0; i < arrivals.ranks.size(); ++i)
    if (arrivals.ranks[i].lead_ns > arrivals.ranks[late.rank].lead_ns) late.rank = i;
  late.lead_ns = arrivals.ranks[late.rank].lead_ns;
  late.lead_ratio = static_cast<double>(late.lead_ns) /
                    static_cast<double>(std::max<int64_t>(1, arrivals.end_ns - arrivals.start_ns));
  std::stable_sort(leads.begin(), leads.end(),
                   [](const Lead& a, const Lead& b) { return a.ns > b.ns; });
  int64_t all = 0, seen = 0;
  // A rank is never late in a group of others. It is not on time there, either.
  std::erase_if(leads,
                [&](const Lead& lead) { return !IsMember(arrivals, lead.group, late.rank); });
  for (const Lead& lead : leads) all += lead.ns;
  double members = 0;
  for (const Lead& lead : leads) {
    if (static_cast<double>(seen) >= kMost * static_cast<double>(all) && late.of >= min_count)
      break;
    seen += lead.ns;
    ++late.of;
    members += static_cast<double>(arrivals.groups[lead.group].group.members.size());
    if (lead.late != late.rank) continue;
    ++late.count;
    if (late.longest_ns != 0) continue;
    late.longest_ns = lead.ns;
    late.longest_start_ns = lead.start_ns;
  }
  if (late.of != 0) late.mean_ranks = members / static_cast<double>(late.of);
  return late;
}

// Returns the probability that chance gives at least `count` of so many: the binomial distribution.
double ProbabilityOfAtLeast(uint64_t count, uint64_t of, double each) {
  const auto n = static_cast<double>(of);
  auto k = static_cast<double>(count);
  double term = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                         k * std::log(each) + (n - k) * std::log1p(-each));
  double sum = term;
  for (; k < n && term > sum * 1e-12; ++k) {
    term *= (n - k) / (k + 1) * each / (1 - each);
    sum += term;
  }
  return sum;
}

// A single long lead is no habit, and short leads do not matter. Few collectives do not tell a
// habit from chance.
Lateness LatenessOf(const Straggler& late, const Arrivals& arrivals, const LatenessLimits& limits) {
  // Chance makes one of the ranks look late in so many of all jobs at most.
  constexpr double kMostByChance = 0.01;
  const double least = limits.min_share * static_cast<double>(arrivals.end_ns - arrivals.start_ns);
  if (static_cast<double>(late.lead_ns) < least) return Lateness::kNone;
  if (static_cast<double>(late.lead_ns - late.longest_ns) < least) return Lateness::kOnce;
  if (static_cast<double>(late.count) < limits.min_last * static_cast<double>(late.of))
    return Lateness::kInTurns;
  const auto ranks = static_cast<double>(arrivals.ranks.size());
  const double by_chance = ranks * ProbabilityOfAtLeast(late.count, late.of, 1 / late.mean_ranks);
  if (late.of < limits.min_count || by_chance > kMostByChance) return Lateness::kTooFew;
  return Lateness::kLate;
}

}  // namespace

Arrivals FindArrivals(const std::vector<const Process*>& processes, const ArrivalWindows& windows) {
  return FindArrivals(FindJobRanks(processes), windows);
}

Arrivals FindArrivals(const std::vector<JobRank>& ranks, const ArrivalWindows& windows) {
  Arrivals out;
  if (ranks.empty()) return out;
  out.is_of_kernels = ranks.front().found.device.has_value();
  for (const JobRank& rank : ranks) {
    RankArrivals& row = out.ranks.emplace_back();
    row.process = rank.index;
    row.device = rank.found.device;
    row.recorded_count = rank.found.entries.size();
  }
  JobGroups found = FindJobGroups(ranks);
  const RankClocks clocks = FindRankClocks(ranks, found.groups);
  for (size_t i = 0; i < ranks.size(); ++i) {
    out.ranks[i].clock_offset_ns = clocks.clocks[i].offset_ns;
    out.ranks[i].clock_set = clocks.clocks[i].set;
  }
  out.match = FillGroups(std::move(found.groups), clocks, &out);
  out.groups_of_ranks = std::move(found.of_ranks);
  if (ranks.size() < 2) out.match = ArrivalMatch::kOneRank;
  if (out.match != ArrivalMatch::kMatched) return out;
  ArrivalCounter counter(ranks, clocks, &out);
  counter.Count(out.is_of_kernels ? windows.of_kernels : windows.of_calls);
  return out;
}

Judgement JudgeLateness(const Arrivals& arrivals, const LatenessLimits& limits) {
  Judgement judgement;
  if (arrivals.leads.empty()) return judgement;
  const Straggler most_late = FindMostLate(arrivals, limits.min_count);
  judgement.lateness = LatenessOf(most_late, arrivals, limits);
  if (judgement.lateness != Lateness::kNone) judgement.most_late = most_late;
  return judgement;
}

}  // namespace gpuprof::analysis
