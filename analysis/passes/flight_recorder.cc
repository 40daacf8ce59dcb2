// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `flight_recorder`: why a job of several ranks hangs, by the dumps of PyTorch's flight
// recorder. See proto/results/flight_recorder.proto.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/model/flight_dump.h"
#include "analysis/passes/context.h"
#include "analysis/passes/host/flight_groups.h"
#include "analysis/passes/host/flight_lateness.h"
#include "analysis/passes/host/flight_moments.h"
#include "analysis/passes/host/flight_problems.h"
#include "analysis/passes/passes.h"
#include "proto/results/flight_recorder.pb.h"

namespace gpuprof::analysis {
namespace {

void FillGroupState(const JoinedGroup& group, bool has_problem, results::FlightGroupState* row) {
  row->set_name(group.name);
  row->set_description(group.description);
  for (const int32_t rank : group.ranks) row->add_ranks(rank);
  row->set_dump_count(group.members.size());
  int64_t newest = kNotInDump, completed = INT64_MAX, first = INT64_MIN;
  uint64_t collectives = 0, messages = 0;
  bool is_completion_known = !group.members.empty(), has_states = false;
  for (const auto& [rank, member] : group.members) {
    newest = std::max(newest, member.LastEntered());
    has_states = has_states || member.has_states;
    collectives = std::max<uint64_t>(collectives, member.collectives.size());
    messages += member.messages.size();
    if (!member.collectives.empty()) first = std::max(first, member.collectives.begin()->first);
    int64_t left = member.group->last_completed;
    for (const auto& [sequence, step] : member.collectives)
      if (member.HasLeft(step.last()).value_or(false)) left = std::max(left, sequence);
    is_completion_known = is_completion_known && left >= 0;
    completed = std::min(completed, left);
    if (member.dump->HasLostBegin()) row->set_is_incomplete(true);
  }
  if (newest != kNotInDump) row->set_newest_sequence(newest);
  if (const int64_t by_all = LastEnteredByAll(group); by_all != kNotInDump)
    row->set_last_common_sequence(by_all);
  if (is_completion_known) row->set_last_completed_sequence(completed);
  if (first != INT64_MIN) row->set_first_sequence(first);
  row->set_collective_count(collectives);
  row->set_message_count(messages);
  row->set_has_states(has_states);
  row->set_is_healthy(!has_problem && group.unknown.empty());
}

// Finds the group of an entry's rank among the joined ones.
const FlightMember* MemberOf(const std::vector<JoinedGroup>& groups, const FlightDump& dump,
                             const FlightEntry& entry) {
  const FlightGroup* const own = &dump.groups[entry.group];
  for (const JoinedGroup& group : groups) {
    const auto found = group.members.find(dump.rank);
    if (found != group.members.end() && found->second.group == own) return &found->second;
  }
  return nullptr;
}

void FillRank(const std::vector<JoinedGroup>& groups, const Process& process,
              results::FlightRank* row) {
  const FlightDump& dump = *FlightDumpOf(process);
  row->set_rank(dump.rank);
  row->set_pid(process.pid);
  row->set_host(process.host);
  row->set_name(process.file);
  row->set_version(dump.version);
  row->set_library_version(dump.library_version);
  row->set_count(dump.entries.size());
  row->set_is_rank_guessed(dump.is_rank_guessed);
  if (dump.entries.empty()) return;
  if (dump.HasLostBegin()) row->set_lost_count(static_cast<uint64_t>(dump.entries.front().record));
  const FlightEntry& last = dump.entries.back();
  row->set_operation(dump.text(last.operation));
  row->set_group(dump.groups[last.group].name);
  if (last.sequence != kNotInDump) row->set_sequence(last.sequence);
  row->set_place(dump.text(last.place));
  row->set_function(dump.text(last.function));
  if (last.created_ns != kNotInDump) row->set_time_ns(last.created_ns);
  uint64_t open = 0;
  bool is_known = true;
  for (const FlightEntry& entry : dump.entries) {
    const FlightMember* const member = MemberOf(groups, dump, entry);
    const std::optional<bool> has_left = member == nullptr ? std::nullopt : member->HasLeft(entry);
    is_known = is_known && has_left.has_value();
    if (has_left && !*has_left) ++open;
    if (&entry == &last && member != nullptr && member->has_states)
      row->set_state(FlightStateWord(last.state));
  }
  if (is_known) row->set_open_count(open);
}

}  // namespace

Error RunFlightRecorder(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::FlightRecorder>();
  std::vector<const FlightDump*> dumps;
  for (const size_t index : context.selected())
    if (const FlightDump* const dump = FlightDumpOf(context.process(index))) dumps.push_back(dump);
  const std::vector<JoinedGroup> groups = JoinFlightDumps(dumps);
  std::set<std::pair<std::string, std::string>> with_problem;
  const FlightMoments moments(groups);
  FlightProblems found = FindFlightProblems(groups, moments);
  for (results::FlightProblem& problem : found.problems) {
    with_problem.insert({problem.group(), problem.group_description()});
    *out->add_problems() = std::move(problem);
  }
  for (results::FlightProblem& problem : found.undecided) {
    with_problem.insert({problem.group(), problem.group_description()});
    *out->add_undecided() = std::move(problem);
  }
  std::set<int32_t> missing;
  for (const JoinedGroup& group : groups) {
    FillGroupState(group, with_problem.contains({group.name, group.description}),
                   out->add_groups());
    missing.insert(group.unknown.begin(), group.unknown.end());
    for (results::FlightLateRank& late : FindLateRanks(group))
      *out->add_late_ranks() = std::move(late);
  }
  for (const int32_t rank : missing) out->add_missing_dumps(rank);
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (FlightDumpOf(process) == nullptr) continue;
    results::FlightRank* const row = out->add_ranks();
    FillRank(groups, process, row);
    if (const std::optional<int64_t> earlier = moments.EarlierNs(row->rank()))
      row->set_earlier_ns(*earlier);
    // Times are those of the recording.
    if (row->has_time_ns()) row->set_time_ns(row->time_ns() - context.trace().origin_realtime_ns);
  }
  context.FillCountMeta("flight_recorder", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
