// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See flight_problems.h. Only the first problem of a group is looked for: what comes behind it
// follows from it. A rank that lacks something is at fault only if its dump is not of an earlier
// moment. A problem whose ranks are held up in another group follows from the problem of
// that group.

#include "analysis/passes/host/flight_problems.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace gpuprof::analysis {
namespace {

using Problem = results::FlightProblem;

// Ranks swap operations with neighbours, not with those far behind.
constexpr int64_t kMostSwapped = 8;
constexpr int64_t kNsPerMs = 1'000'000;

bool StartsWithWord(const std::string& text, const char* word) { return text.starts_with(word); }

// Returns the part of a signature that must be the same on all ranks.
FlightSignature MustBeSame(FlightSignature signature) {
  const std::string& name = signature.operation;
  const bool is_exchange = StartsWithWord(name, "all_to_all") || StartsWithWord(name, "alltoall");
  const bool is_scatter = name == "scatter", is_gather = name == "gather";
  // Lists of tensors may differ in length between ranks here.
  const bool is_uneven = name == "all_gather" || name == "reduce_scatter" || name == "barrier";
  if (is_exchange || is_scatter || is_uneven) signature.input_sizes.clear();
  if (is_exchange || is_gather || is_uneven) signature.output_sizes.clear();
  if (name == "all_gather") signature.types.clear();
  return signature;
}

const FlightStep* StepAt(const FlightMember& member, int64_t sequence) {
  const auto found = member.collectives.find(sequence);
  return found == member.collectives.end() ? nullptr : &found->second;
}

std::optional<bool> HasLeftStep(const FlightMember& member, int64_t sequence) {
  if (const FlightStep* const step = StepAt(member, sequence)) return member.HasLeft(step->last());
  if (member.group->last_completed >= 0) return sequence <= member.group->last_completed;
  // Newer ones are in the ring, so this one is long gone.
  if (sequence < member.FirstKnown()) return true;
  return std::nullopt;
}

void SetGroup(const JoinedGroup& group, Problem* problem) {
  problem->set_group(group.name);
  problem->set_group_description(group.description);
  for (const int32_t rank : group.unknown) problem->add_unknown_ranks(rank);
}

// Names the ranks of a side, the first ones of many.
void NameRanks(results::FlightSide* side) {
  constexpr int kMostNamed = 16;
  std::string name;
  for (int i = 0; i < side->ranks_size() && i < kMostNamed; ++i)
    name += (i == 0 ? "" : ", ") + std::to_string(side->ranks(i));
  side->set_name(name + (side->ranks_size() > kMostNamed ? " and more" : ""));
}

// Adds ranks that do the same to one side.
class Sides {
 public:
  void Add(const FlightMember& member, const FlightStep* step) {
    results::FlightSide side = SideOf(member, step);
    const std::string key = side.SerializeAsString();
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] != key) continue;
      sides_[i].add_ranks(member.rank);
      return;
    }
    keys_.push_back(key);
    side.add_ranks(member.rank);
    sides_.push_back(std::move(side));
  }
  void Put(Problem* problem) {
    std::stable_sort(sides_.begin(), sides_.end(),
                     [](const auto& x, const auto& y) { return x.ranks_size() > y.ranks_size(); });
    for (results::FlightSide& side : sides_) {
      NameRanks(&side);
      *problem->add_sides() = std::move(side);
    }
  }

 private:
  std::vector<std::string> keys_;
  std::vector<results::FlightSide> sides_;
};

// Fills who waits at a collective, and what each rank does then. A rank that did not come is shown
// with its last operation in any group.
void FillSides(const JoinedGroup& group, int64_t sequence, Problem* problem) {
  Sides sides;
  for (const auto& [rank, member] : group.members) {
    const FlightStep* const step = StepAt(member, sequence);
    if (step != nullptr && !member.HasLeft(step->last()).value_or(false))
      problem->add_waiting_ranks(rank);
    if (step != nullptr) {
      sides.Add(member, step);
      if (problem->operation().empty()) {
        const FlightSignature signature = SignatureOf(member, *step);
        problem->set_operation(signature.operation);
      }
      const int64_t timeout = step->last().timeout_ms;
      if (timeout > 0 && timeout < INT64_MAX / kNsPerMs)
        problem->set_timeout_ns(timeout * kNsPerMs);
    } else if (!member.dump->entries.empty()) {
      const FlightStep last = {{&member.dump->entries.back()}};
      sides.Add(member, &last);
    } else {
      sides.Add(member, nullptr);
    }
  }
  sides.Put(problem);
}

// Returns whether the odd ranks do later, or earlier, what the others do now.
bool IsSwapped(const JoinedGroup& group, int64_t sequence, int32_t odd, int32_t usual) {
  const FlightMember& x = group.members.at(odd);
  const FlightMember& y = group.members.at(usual);
  const auto signature = [](const FlightMember& member, int64_t at) {
    const FlightStep* const step = StepAt(member, at);
    return step == nullptr ? FlightSignature{} : MustBeSame(SignatureOf(member, *step));
  };
  const FlightSignature odd_now = signature(x, sequence), usual_now = signature(y, sequence);
  bool has_odd = false, has_usual = false;
  for (int64_t ahead = 1; ahead <= kMostSwapped; ++ahead) {
    has_odd = has_odd || signature(y, sequence + ahead) == odd_now;
    has_usual = has_usual || signature(x, sequence + ahead) == usual_now;
  }
  return has_odd && has_usual;
}

// Compares what the ranks do at one collective. None: they do the same.
std::optional<Problem> FindDifference(const JoinedGroup& group, int64_t sequence) {
  std::map<FlightSignature, std::vector<int32_t>> ranks_of;
  for (const auto& [rank, member] : group.members) {
    if (const FlightStep* const step = StepAt(member, sequence))
      ranks_of[MustBeSame(SignatureOf(member, *step))].push_back(rank);
  }
  if (ranks_of.size() < 2) return std::nullopt;
  const auto most = std::max_element(
      ranks_of.begin(), ranks_of.end(),
      [](const auto& x, const auto& y) { return x.second.size() < y.second.size(); });
  Problem problem;
  SetGroup(group, &problem);
  problem.set_sequence(sequence);
  problem.set_operation(most->first.operation);
  bool is_tie = false, differs_in_operation = false, differs_in_sizes = false;
  std::vector<int32_t> odd;
  for (const auto& [signature, ranks] : ranks_of) {
    if (signature == most->first) continue;
    is_tie = is_tie || ranks.size() == most->second.size();
    differs_in_operation = differs_in_operation || signature.operation != most->first.operation;
    differs_in_sizes = differs_in_sizes || signature.input_sizes != most->first.input_sizes ||
                       signature.output_sizes != most->first.output_sizes;
    odd.insert(odd.end(), ranks.begin(), ranks.end());
  }
  const bool is_swapped = IsSwapped(group, sequence, odd.front(), most->second.front());
  problem.set_kind(is_swapped             ? results::FLIGHT_PROBLEM_OTHER_ORDER
                   : differs_in_operation ? results::FLIGHT_PROBLEM_OTHER_OPERATION
                   : differs_in_sizes     ? results::FLIGHT_PROBLEM_OTHER_SIZES
                                          : results::FLIGHT_PROBLEM_OTHER_TYPES);
  problem.set_has_no_majority(is_tie);
  if (is_tie) odd.insert(odd.end(), most->second.begin(), most->second.end());
  std::sort(odd.begin(), odd.end());
  for (const int32_t rank : odd) problem.add_ranks(rank);
  FillSides(group, sequence, &problem);
  return problem;
}

// A problem, and what the moments of the dumps say about it.
struct Found {
  Problem problem;
  bool is_undecided = false;
};

Found JudgedProblem(const JoinedGroup& group, const FlightMoments& moments, int64_t since_ns,
                    Problem problem) {
  const std::vector<int32_t> lacking(problem.ranks().begin(), problem.ranks().end());
  const std::vector<int32_t> waiting(problem.waiting_ranks().begin(),
                                     problem.waiting_ranks().end());
  const FlightMoments::Verdict verdict = moments.Judge(group, lacking, waiting, since_ns);
  problem.set_is_moment_uncertain(verdict != FlightMoments::Verdict::kLacking);
  return {std::move(problem), verdict == FlightMoments::Verdict::kUndecided};
}

// Finds who is still in a collective that the others have left, or that all have entered and nobody
// has left. None: all have left it, or nobody knows.
std::optional<Found> FindStaying(const JoinedGroup& group, const FlightMoments& moments,
                                 int64_t sequence, bool must_have_left) {
  Problem problem;
  bool has_left_any = false;
  int64_t entered_ns = kNotInDump, left_ns = INT64_MAX;
  for (const auto& [rank, member] : group.members) {
    const FlightStep* const step = StepAt(member, sequence);
    if (step != nullptr)
      entered_ns = std::max(entered_ns, moments.LevelNs(rank, step->last().created_ns));
    const std::optional<bool> has_left = HasLeftStep(member, sequence);
    if (!has_left || (step == nullptr && must_have_left)) continue;
    has_left_any = has_left_any || *has_left;
    if (*has_left && step != nullptr && step->last().completed_ns > 0)
      left_ns = std::min(left_ns, moments.LevelNs(rank, step->last().completed_ns));
    // Who has left a later one has left this one.
    if (!*has_left && !moments.HasAnyLeftLater(group, sequence)) problem.add_ranks(rank);
  }
  if (problem.ranks().empty() || (must_have_left && !has_left_any)) return std::nullopt;
  problem.set_kind(results::FLIGHT_PROBLEM_MISSING_LEAVE);
  SetGroup(group, &problem);
  problem.set_sequence(sequence);
  FillSides(group, sequence, &problem);
  return JudgedProblem(group, moments, left_ns == INT64_MAX ? entered_ns : left_ns,
                       std::move(problem));
}

// Returns whether somebody has not left a collective, or nobody can tell.
bool IsOpen(const JoinedGroup& group, int64_t sequence) {
  return std::any_of(group.members.begin(), group.members.end(), [&](const auto& each) {
    const std::optional<bool> has_left = HasLeftStep(each.second, sequence);
    return !has_left.value_or(false);
  });
}

// Finds who did not come to a collective in which others wait. `is_complete` is false if a rank
// lacks it as its dump is earlier.
std::optional<Found> FindMissing(const JoinedGroup& group, const FlightMoments& moments,
                                 int64_t sequence, bool* is_complete) {
  Problem problem;
  problem.set_kind(results::FLIGHT_PROBLEM_MISSING_ENTER);
  SetGroup(group, &problem);
  problem.set_sequence(sequence);
  bool waits = false;
  int64_t since_ns = INT64_MAX;
  for (const auto& [rank, member] : group.members) {
    const bool has_come = member.IsUnknown() || member.LastEntered() >= sequence;
    if (!has_come && moments.IsEarlier(group, member)) {
      *is_complete = false;
    } else if (!has_come) {
      problem.add_ranks(rank);
    }
    const std::optional<bool> has_left = HasLeftStep(member, sequence);
    if (!has_come || has_left.value_or(false)) continue;
    waits = true;
    const FlightStep* const step = StepAt(member, sequence);
    if (step != nullptr && step->parts.front()->created_ns > 0)
      since_ns = std::min(since_ns, moments.LevelNs(rank, step->parts.front()->created_ns));
  }
  // Who has sent a broadcast may leave it before others come. Then nothing waits.
  if (problem.ranks_size() == 0 || !waits) return std::nullopt;
  FillSides(group, sequence, &problem);
  return JudgedProblem(group, moments, since_ns == INT64_MAX ? kNotInDump : since_ns,
                       std::move(problem));
}

// Returns the sequence numbers that dumps have, in order.
std::set<int64_t> SequencesOf(const JoinedGroup& group) {
  std::set<int64_t> sequences;
  for (const auto& [rank, member] : group.members)
    for (const auto& [sequence, step] : member.collectives) sequences.insert(sequence);
  return sequences;
}

// Finds the first problem of the collectives of a group.
std::optional<Found> FindOfCollectives(const JoinedGroup& group, const FlightMoments& moments) {
  const int64_t by_all = LastEnteredByAll(group);
  std::optional<int64_t> last_common;
  for (const int64_t sequence : SequencesOf(group)) {
    std::optional<Found> found;
    const bool has_all = by_all != kNotInDump && sequence <= by_all;
    bool is_complete = true;
    if (!has_all) found = FindMissing(group, moments, sequence, &is_complete);
    // Ranks whose dumps are of one moment are compared without the earlier ones.
    if (!found && (has_all || !is_complete) && IsOpen(group, sequence)) {
      if (std::optional<Problem> difference = FindDifference(group, sequence))
        found = Found{std::move(*difference)};
      if (!found) found = FindStaying(group, moments, sequence, !has_all);
    }
    if (!found) {
      last_common = sequence;
      continue;
    }
    if (last_common && (by_all == kNotInDump || *last_common > by_all)) last_common.reset();
    if (last_common) found->problem.set_last_common_sequence(*last_common);
    return found;
  }
  return std::nullopt;
}

// The ends of messages from one rank to another, in their order.
struct Channel {
  std::vector<const FlightEntry*> sent, received;
};

// Finds the first message between two ranks that has no other end, or another size there.
std::optional<Found> FindOfChannel(const JoinedGroup& group, const FlightMoments& moments,
                                   int32_t from, int32_t to, const Channel& channel) {
  const auto sender = group.members.find(from), receiver = group.members.find(to);
  const bool has_both = sender != group.members.end() && receiver != group.members.end();
  if (!has_both) return std::nullopt;
  const FlightMember& source = sender->second;
  const FlightMember& target = receiver->second;
  const bool is_uncertain = source.dump->HasLostBegin() || target.dump->HasLostBegin();
  const size_t both = std::min(channel.sent.size(), channel.received.size());
  Problem problem;
  SetGroup(group, &problem);
  problem.set_is_message(true);
  problem.set_is_uncertain(is_uncertain);
  const auto put = [&](const FlightMember& member, const FlightEntry* entry) {
    const FlightStep step = {{entry}};
    *problem.add_sides() = SideOf(member, entry == nullptr ? nullptr : &step);
    problem.mutable_sides(problem.sides_size() - 1)->add_ranks(member.rank);
    NameRanks(problem.mutable_sides(problem.sides_size() - 1));
  };
  for (size_t i = 0; i < both && !is_uncertain; ++i) {
    const FlightEntry& send = *channel.sent[i];
    const FlightEntry& receive = *channel.received[i];
    if (source.dump->text(send.input_sizes) == target.dump->text(receive.output_sizes)) continue;
    problem.set_kind(results::FLIGHT_PROBLEM_OTHER_MESSAGE);
    problem.set_sequence(static_cast<int64_t>(i) + 1);
    problem.set_operation("send");
    problem.add_ranks(from);
    problem.add_ranks(to);
    put(source, &send);
    put(target, &receive);
    return Found{std::move(problem)};
  }
  // With a ring that has lost its begin, only messages that are still open are compared.
  const auto still_open = [](const FlightMember& member,
                             const std::vector<const FlightEntry*>& all) {
    std::vector<const FlightEntry*> left;
    for (const FlightEntry* entry : all)
      if (!member.HasLeft(*entry).value_or(false)) left.push_back(entry);
    return left;
  };
  std::vector<const FlightEntry*> sent = channel.sent, received = channel.received;
  if (is_uncertain) {
    sent = still_open(source, sent);
    received = still_open(target, received);
  }
  if (sent.size() == received.size()) return std::nullopt;
  const bool lacks_receiver = sent.size() > received.size();
  const FlightMember& waiting = lacks_receiver ? source : target;
  const FlightMember& missing = lacks_receiver ? target : source;
  const std::vector<const FlightEntry*>& more = lacks_receiver ? sent : received;
  const size_t place = std::min(sent.size(), received.size());
  const FlightEntry* const entry = more[place];
  if (waiting.HasLeft(*entry).value_or(false)) return std::nullopt;
  problem.set_kind(results::FLIGHT_PROBLEM_MISSING_PARTNER);
  problem.set_sequence(entry->sequence == kNotInDump ? static_cast<int64_t>(place) + 1
                                                     : entry->sequence);
  problem.set_operation(lacks_receiver ? "send" : "recv");
  problem.add_ranks(missing.rank);
  problem.add_waiting_ranks(waiting.rank);
  put(waiting, entry);
  put(missing, missing.dump->entries.empty() ? nullptr : &missing.dump->entries.back());
  return JudgedProblem(group, moments, moments.LevelNs(waiting.rank, entry->created_ns),
                       std::move(problem));
}

void FindOfMessages(const JoinedGroup& group, const FlightMoments& moments,
                    std::vector<Found>* all) {
  std::map<std::pair<int32_t, int32_t>, Channel> channels;
  for (const auto& [rank, member] : group.members) {
    for (const FlightEntry* entry : member.messages) {
      const int32_t from = group.RankAt(entry->from), to = group.RankAt(entry->to);
      if (from < 0 || to < 0) continue;
      Channel& channel = channels[{from, to}];
      (rank == from ? channel.sent : channel.received).push_back(entry);
    }
  }
  for (const auto& [ends, channel] : channels) {
    std::optional<Found> found = FindOfChannel(group, moments, ends.first, ends.second, channel);
    if (found) all->push_back(std::move(*found));
  }
}

// Returns whether a rank is in the problem as one that waits.
bool Waits(const Problem& problem, int32_t rank) {
  const auto& ranks = problem.waiting_ranks();
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// A problem follows from another one in which all of its ranks wait. Of problems that follow from
// each other, none is the cause alone.
void FindCauses(std::vector<Problem>* problems) {
  constexpr size_t kMostProblems = 2'000;
  const size_t count = std::min(problems->size(), kMostProblems);
  std::vector<std::optional<size_t>> cause(count);
  for (size_t i = 0; i < count; ++i) {
    const Problem& problem = (*problems)[i];
    const bool may_follow = problem.kind() == results::FLIGHT_PROBLEM_MISSING_ENTER ||
                            problem.kind() == results::FLIGHT_PROBLEM_MISSING_PARTNER;
    for (size_t j = 0; may_follow && j < count && !cause[i]; ++j) {
      if (i == j) continue;
      const bool all = std::all_of(problem.ranks().begin(), problem.ranks().end(),
                                   [&](int32_t rank) { return Waits((*problems)[j], rank); });
      if (all) cause[i] = j;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    // Goes up the causes, once around at most.
    size_t at = i;
    for (size_t steps = 0; cause[at] && steps <= count; ++steps) {
      at = *cause[at];
      if (at == i) break;
    }
    (*problems)[i].set_is_circle(cause[i].has_value() && at == i);
  }
  std::vector<size_t> order(problems->size()), place(problems->size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto follows = [&](size_t i) {
    return i < count && cause[i].has_value() && !(*problems)[i].is_circle();
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return follows(x) < follows(y); });
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<Problem> sorted;
  for (const size_t from : order) {
    sorted.push_back(std::move((*problems)[from]));
    if (from < count && cause[from])
      sorted.back().set_caused_by(static_cast<uint32_t>(place[*cause[from]]));
  }
  *problems = std::move(sorted);
}

}  // namespace

const char* FlightStateWord(FlightState state) {
  switch (state) {
    case FlightState::kUnknown:
      return "";
    case FlightState::kScheduled:
      return "scheduled";
    case FlightState::kStarted:
      return "started";
    case FlightState::kCompleted:
      return "completed";
  }
  return "";
}

int64_t LastEnteredByAll(const JoinedGroup& group) {
  int64_t last = INT64_MAX;
  for (const auto& [rank, member] : group.members)
    if (!member.IsUnknown()) last = std::min(last, member.LastEntered());
  return last == INT64_MAX ? kNotInDump : last;
}

results::FlightSide SideOf(const FlightMember& member, const FlightStep* step) {
  results::FlightSide side;
  if (step == nullptr) return side;
  const FlightSignature signature = SignatureOf(member, *step);
  const FlightEntry& last = step->last();
  side.set_operation(signature.operation);
  if (last.sequence != kNotInDump) side.set_sequence(last.sequence);
  side.set_input_sizes(signature.input_sizes);
  side.set_output_sizes(signature.output_sizes);
  side.set_types(signature.types);
  // A library that notes no states leaves the first one.
  if (member.has_states) side.set_state(FlightStateWord(last.state));
  side.set_place(member.dump->text(last.place));
  side.set_function(member.dump->text(last.function));
  return side;
}

FlightProblems FindFlightProblems(const std::vector<JoinedGroup>& groups,
                                  const FlightMoments& moments) {
  std::vector<Found> all;
  for (const JoinedGroup& group : groups) {
    if (std::optional<Found> found = FindOfCollectives(group, moments))
      all.push_back(std::move(*found));
    FindOfMessages(group, moments, &all);
  }
  FlightProblems sorted;
  for (Found& found : all)
    (found.is_undecided ? sorted.undecided : sorted.problems).push_back(std::move(found.problem));
  FindCauses(&sorted.problems);
  return sorted;
}

}  // namespace gpuprof::analysis
