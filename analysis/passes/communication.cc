// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `communication`: groups of ranks, arrivals at collectives, and transfers. See passes.h.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/derived/arrivals.h"
#include "analysis/derived/communication_time.h"
#include "analysis/derived/parallel_kind.h"
#include "analysis/model/process_groups.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/communication_words.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/communication.pb.h"

namespace gpuprof::analysis {
namespace {

// A flood of rows helps none: a job of a thousand ranks has a million pairs.
constexpr size_t kMostGroupRows = 10'000;

results::GroupReach ReachOf(const Communicator& group, const std::vector<JobRank>& ranks) {
  std::set<std::string_view> hosts;
  for (const size_t member : group.members) hosts.insert(ranks[member].process->host);
  if (group.nodes != 0)
    return group.nodes > 1 ? results::REACH_SEVERAL_NODES : results::REACH_ONE_NODE;
  if (hosts.contains("")) return results::REACH_UNKNOWN;
  if (hosts.size() > 1) return results::REACH_SEVERAL_NODES;
  return group.is_whole ? results::REACH_ONE_NODE : results::REACH_UNKNOWN;
}

// Returns the rank with the longest leads in the group. None: no rank came last alone.
std::optional<size_t> MostLateOf(const ArrivalsOfGroup& group) {
  const auto most = std::max_element(group.lead_ns.begin(), group.lead_ns.end());
  if (most == group.lead_ns.end() || *most <= 0) return std::nullopt;
  return static_cast<size_t>(most - group.lead_ns.begin());
}

// Figures of an operation in groups that are alike.
struct OpSums {
  ArrivalsOfOp sums;
  std::set<size_t> groups;
  results::TransferGap gap = results::TRANSFER_GAP_NONE;
  double bus_bytes = 0;  // of sized_count: bytes times the factor
};

class Filler {
 public:
  Filler(const std::vector<JobRank>& ranks, const Arrivals& arrivals,
         const CommunicationTimes& times, const Judgement& judgement, results::Communication* out)
      : ranks_(ranks), arrivals_(arrivals), times_(times), judgement_(judgement), out_(*out) {
    std::vector<const Communicator*> groups;
    for (const ArrivalsOfGroup& group : arrivals.groups) groups.push_back(&group.group);
    size_t job_ranks = 0;
    for (const JobRank& rank : ranks) job_ranks = std::max<size_t>(job_ranks, rank.of.value_or(0));
    kinds_ = GuessKinds(groups, job_ranks);
    for (size_t g = 0; g < groups.size(); ++g) {
      reaches_.push_back(ReachOf(*groups[g], ranks));
      families_.push_back(FamilyName(*groups[g], kinds_[g].kind));
    }
  }

  void Fill() {
    out_.set_match(MatchWord(arrivals_.match));
    out_.set_rank_count(static_cast<uint32_t>(arrivals_.ranks.size()));
    out_.set_matched_count(arrivals_.matched_count);
    out_.set_undecided_count(arrivals_.undecided_count);
    out_.set_window_ns(arrivals_.end_ns - arrivals_.start_ns);
    out_.set_of_kernels(arrivals_.is_of_kernels);
    out_.set_clock_error_ns(arrivals_.clock_error_ns);
    std::set<uint32_t> sets;
    for (const RankArrivals& rank : arrivals_.ranks) {
      AddRank(rank);
      sets.insert(rank.clock_set);
    }
    out_.set_clock_set_count(static_cast<uint32_t>(sets.size()));
    for (size_t i = 0; i < arrivals_.waits.size() && i < kMostWaits; ++i)
      AddWait(arrivals_.waits[i]);
    AddFamilies();
    for (size_t g = 0; g < arrivals_.groups.size(); ++g) AddGroup(g);
    AddOperations();
    AddExperts();
    AddStages();
    if (arrivals_.match != ArrivalMatch::kMatched) return;
    out_.set_lateness(LatenessWord(judgement_.lateness));
    if (judgement_.late() != nullptr)
      SetLate(*judgement_.late(), out_.mutable_late());
    else if (judgement_.most_late)
      SetLate(*judgement_.most_late, out_.mutable_most_late());
  }

 private:
  const Process& ProcessOf(size_t rank) const { return *ranks_[rank].process; }
  const Communicator& GroupAt(size_t group) const { return arrivals_.groups[group].group; }
  bool HasTimes() const { return !times_.groups.empty(); }

  static std::string FamilyName(const Communicator& group, ParallelKind kind) {
    // PyTorch writes "undefined" for a group without a description.
    if (!group.description.empty() && group.description != "undefined") return group.description;
    if (group.name.empty()) return "";
    const std::string_view word = ParallelWord(kind);
    return word.empty() ? "group " + group.name : std::string(word) + " groups";
  }

  template <typename Row>
  void SetRank(size_t rank, Row* row) const {
    SetProcess(ProcessOf(rank), row);
    row->set_name(ProcessName(ProcessOf(rank)));
  }

  void AddRank(const RankArrivals& rank) {
    results::CollectiveRank* row = out_.add_ranks();
    const auto number = static_cast<size_t>(&rank - arrivals_.ranks.data());
    SetRank(number, row);
    if (rank.device) row->set_device(*rank.device);
    row->set_count(rank.recorded_count);
    row->set_last_count(rank.last_count);
    row->set_last_ratio(Ratio(rank.last_count, arrivals_.matched_count));
    row->set_lead_ns(rank.lead_ns);
    row->set_inherited_ns(rank.inherited_ns);
    row->set_early_ns(rank.early_ns);
    if (rank.waited_ns) row->set_waited_ns(*rank.waited_ns);
    if (rank.exchange_ns) row->set_exchange_ns(*rank.exchange_ns);
    row->set_caused_ns(rank.caused_ns);
    row->set_clock_offset_ns(rank.clock_offset_ns);
    row->set_clock_set(rank.clock_set);
    if (HasTimes()) {
      const CommunicationTime& time = times_.ranks[number];
      row->set_time_ns(time.total_ns);
      row->set_exposed_ns(time.total_ns - time.hidden_ns);
    }
    out_.set_waited_ns(out_.waited_ns() + rank.waited_ns.value_or(rank.early_ns));
  }

  void AddWait(const RankWait& wait) {
    results::CollectiveWait* row = out_.add_waits();
    SetRank(wait.waiter, row);
    if (arrivals_.ranks[wait.waiter].device) row->set_device(*arrivals_.ranks[wait.waiter].device);
    const Process& late = ProcessOf(wait.late);
    row->set_late_pid(late.pid);
    row->set_late_name(ProcessName(late));
    row->set_late_host(late.host);
    row->set_count(wait.count);
    row->set_early_ns(wait.early_ns);
    if (wait.waited_ns) row->set_waited_ns(*wait.waited_ns);
    row->set_max_ns(wait.max_ns);
    row->set_max_start_ns(wait.max_start_ns);
  }

  void AddFamilies() {
    std::map<std::tuple<ParallelKind, std::string, uint32_t>, std::vector<size_t>> families;
    for (size_t g = 0; g < arrivals_.groups.size(); ++g) {
      const Communicator& group = GroupAt(g);
      out_.set_unmatched_count(out_.unmatched_count() + group.unmatched_count);
      if (group.name.empty()) {
        out_.set_unnamed_count(out_.unnamed_count() + group.recorded_count);
        continue;
      }
      families[{kinds_[g].kind, families_[g], group.size}].push_back(g);
    }
    std::vector<results::GroupFamily> rows;
    for (const auto& [key, groups] : families) rows.push_back(FamilyRow(groups));
    std::stable_sort(rows.begin(), rows.end(),
                     [](const results::GroupFamily& a, const results::GroupFamily& b) {
                       return std::tuple(a.time_ns(), a.early_ns(), a.entry_count()) >
                              std::tuple(b.time_ns(), b.early_ns(), b.entry_count());
                     });
    for (results::GroupFamily& row : rows) *out_.add_families() = std::move(row);
  }

  results::GroupFamily FamilyRow(const std::vector<size_t>& groups) const {
    results::GroupFamily row;
    const size_t first = groups.front();
    row.set_name(families_[first]);
    row.set_kind(KindWord(kinds_[first].kind));
    row.set_kind_source(SourceWord(kinds_[first].source));
    *row.mutable_kind_confidence() = ConfidenceOf(kinds_[first]);
    row.set_size_count(GroupAt(first).size);
    row.set_group_count(static_cast<uint32_t>(groups.size()));
    row.set_reach(reaches_[first]);
    int64_t total = 0, hidden = 0;
    for (const size_t g : groups) {
      const ArrivalsOfGroup& group = arrivals_.groups[g];
      if (reaches_[g] != row.reach()) row.set_reach(Wider(row.reach(), reaches_[g]));
      row.set_rank_count(row.rank_count() + static_cast<uint32_t>(group.group.members.size()));
      row.set_entry_count(row.entry_count() + group.group.recorded_count);
      row.set_count(row.count() + group.count);
      row.set_early_ns(row.early_ns() + group.early_ns);
      if (HasTimes()) {
        total += times_.groups[g].total_ns;
        hidden += times_.groups[g].hidden_ns;
      }
      const auto late = MostLateOf(group);
      if (!late || group.lead_ns[*late] <= row.late_lead_ns()) continue;
      const Process& process = ProcessOf(group.group.members[*late]);
      row.set_late_name(ProcessName(process));
      row.set_late_pid(process.pid);
      row.set_late_group(group.group.name);
      row.set_late_lead_ns(group.lead_ns[*late]);
      row.set_late_count(group.last_count[*late]);
    }
    if (!HasTimes()) return row;
    row.set_time_ns(total);
    row.set_exposed_ns(total - hidden);
    if (total != 0) row.set_hidden_ratio(Ratio(hidden, total));
    return row;
  }

  // Groups that are alike may be in one node, or reach over several.
  static results::GroupReach Wider(results::GroupReach a, results::GroupReach b) {
    if (a == results::REACH_SEVERAL_NODES || b == results::REACH_SEVERAL_NODES)
      return results::REACH_SEVERAL_NODES;
    return results::REACH_UNKNOWN;
  }

  void AddGroup(size_t g) {
    const ArrivalsOfGroup& group = arrivals_.groups[g];
    if (static_cast<size_t>(out_.groups_size()) == kMostGroupRows) return;
    results::CommunicationGroup* row = out_.add_groups();
    row->set_name(group.group.name);
    row->set_description(group.group.description);
    row->set_family(families_[g]);
    row->set_kind(KindWord(kinds_[g].kind));
    row->set_kind_source(SourceWord(kinds_[g].source));
    row->set_size_count(group.group.size);
    row->set_rank_count(static_cast<uint32_t>(group.group.members.size()));
    row->set_ranks(ShortRankList(group.group.ranks));
    row->set_reach(reaches_[g]);
    row->set_match(GroupMatchWord(group.group.match));
    row->set_is_numbered(group.group.by_sequence);
    row->set_entry_count(group.group.recorded_count);
    row->set_count(group.count);
    row->set_unmatched_count(group.group.unmatched_count);
    row->set_early_ns(group.early_ns);
    row->set_spread_ns(group.spread_ns);
    if (HasTimes()) {
      row->set_time_ns(times_.groups[g].total_ns);
      row->set_exposed_ns(times_.groups[g].total_ns - times_.groups[g].hidden_ns);
    }
    if (const auto late = MostLateOf(group)) {
      row->set_late_name(ProcessName(ProcessOf(group.group.members[*late])));
      row->set_late_lead_ns(group.lead_ns[*late]);
    }
  }

  // Returns why no transfer of the operation is known, or no bandwidth.
  results::TransferGap GapOf(const ArrivalsOfOp& op) const {
    const Communicator& group = GroupAt(op.group);
    const bool is_message = IsMessage(op.kind);
    if (!arrivals_.groups[op.group].is_compared && group.size > group.members.size())
      return results::TRANSFER_GAP_MISSING_RANKS;
    if (!arrivals_.groups[op.group].is_compared && group.size != 1)
      return results::TRANSFER_GAP_NOT_MATCHED;
    if (group.size == 1) return results::TRANSFER_GAP_ONE_RANK;
    if (!group.is_whole && !is_message) return results::TRANSFER_GAP_MISSING_RANKS;
    if (op.transfer_count == 0) return results::TRANSFER_GAP_NO_ENDS;
    if (BusFactor(op.kind, RanksOf(op)) == 0) return results::TRANSFER_GAP_NO_DATA;
    if (op.sized_count == 0) return results::TRANSFER_GAP_NO_BYTES;
    return results::TRANSFER_GAP_NONE;
  }

  uint64_t RanksOf(const ArrivalsOfOp& op) const {
    if (IsMessage(op.kind)) return 2;
    const Communicator& group = GroupAt(op.group);
    return group.size != 0 ? group.size : group.members.size();
  }

  // Sets what rows of operations share.
  template <typename Row>
  static void SetTransfer(const OpSums& op, Row* row) {
    if (op.sums.bytes_count != 0) row->set_size_bytes(op.sums.all_bytes);
    row->set_gap(op.gap);
    if (op.sums.transfer_count != 0) row->set_transfer_ns(op.sums.transfer_ns);
    if (op.sums.sized_transfer_ns <= 0 || op.bus_bytes <= 0) return;
    const double seconds = static_cast<double>(op.sums.sized_transfer_ns) / 1e9;
    row->set_algorithm_bytes_per_second(static_cast<double>(op.sums.bytes) / seconds);
    row->set_bus_bytes_per_second(op.bus_bytes / seconds);
  }

  // Returns the matched operations, then those of named groups that could not be matched. The
  // latter have counts of entries alone.
  std::vector<ArrivalsOfOp> AllOperations() const {
    std::vector<ArrivalsOfOp> all = arrivals_.ops;
    for (size_t g = 0; g < arrivals_.groups.size(); ++g) {
      const ArrivalsOfGroup& group = arrivals_.groups[g];
      if (group.is_compared || group.group.name.empty()) continue;
      for (size_t kind = 0; kind < kCollectiveKinds; ++kind) {
        if (group.group.of_kinds[kind] == 0) continue;
        ArrivalsOfOp& op = all.emplace_back();
        op.kind = static_cast<CollectiveKind>(kind);
        op.name = kind == 0 ? "other" : std::string(KindName(op.kind));
        op.group = g;
        op.count = group.group.of_kinds[kind];
      }
    }
    return all;
  }

  void AddOperations() {
    std::map<std::tuple<bool, std::string, ParallelKind, uint32_t, std::string, CollectiveKind>,
             OpSums>
        alike;
    for (const ArrivalsOfOp& op : AllOperations()) {
      const Communicator& group = GroupAt(op.group);
      OpSums one;
      one.sums = op;
      one.gap = GapOf(op);
      one.bus_bytes = static_cast<double>(op.bytes) * BusFactor(op.kind, RanksOf(op));
      if (!group.name.empty() && static_cast<size_t>(out_.group_operations_size()) < kMostGroupRows)
        AddGroupOperation(one);
      const bool is_compared = arrivals_.groups[op.group].is_compared;
      OpSums& sums = alike[{is_compared, families_[op.group], kinds_[op.group].kind, group.size,
                            op.name, op.kind}];
      Join(one, &sums);
    }
    std::vector<const OpSums*> order;
    for (const auto& [key, sums] : alike) order.push_back(&sums);
    std::stable_sort(order.begin(), order.end(), [](const OpSums* a, const OpSums* b) {
      return a->sums.spread_ns > b->sums.spread_ns;
    });
    for (const OpSums* sums : order) AddOperation(*sums);
  }

  static void Join(const OpSums& one, OpSums* all) {
    ArrivalsOfOp& sums = all->sums;
    if (all->groups.empty()) {
      *all = one;
      all->groups.insert(one.sums.group);
      return;
    }
    all->groups.insert(one.sums.group);
    sums.count += one.sums.count;
    sums.spread_ns += one.sums.spread_ns;
    if (one.sums.max_spread_ns > sums.max_spread_ns) {
      sums.max_spread_ns = one.sums.max_spread_ns;
      sums.max_start_ns = one.sums.max_start_ns;
    }
    sums.transfer_count += one.sums.transfer_count;
    sums.transfer_ns += one.sums.transfer_ns;
    sums.sized_count += one.sums.sized_count;
    sums.sized_transfer_ns += one.sums.sized_transfer_ns;
    sums.bytes += one.sums.bytes;
    sums.all_bytes += one.sums.all_bytes;
    sums.bytes_count += one.sums.bytes_count;
    all->bus_bytes += one.bus_bytes;
    if (one.gap == results::TRANSFER_GAP_NONE) all->gap = one.gap;
  }

  void AddGroupOperation(const OpSums& op) {
    results::GroupOperation* row = out_.add_group_operations();
    row->set_group(GroupAt(op.sums.group).name);
    row->set_family(families_[op.sums.group]);
    row->set_name(op.sums.name);
    row->set_operation(OperationWord(op.sums.kind));
    row->set_count(op.sums.count);
    row->set_spread_ns(op.sums.spread_ns);
    SetTransfer(op, row);
  }

  void AddOperation(const OpSums& op) {
    results::CollectiveOp* row = out_.add_operations();
    const size_t g = op.sums.group;
    row->set_name(op.sums.name);
    row->set_count(op.sums.count);
    row->set_spread_ns(op.sums.spread_ns);
    row->set_mean_ns(op.sums.spread_ns / static_cast<int64_t>(op.sums.count));
    row->set_max_ns(op.sums.max_spread_ns);
    row->set_max_start_ns(op.sums.max_start_ns);
    row->set_operation(OperationWord(op.sums.kind));
    row->set_family(families_[g]);
    row->set_kind(KindWord(kinds_[g].kind));
    row->set_size_count(static_cast<uint32_t>(RanksOf(op.sums)));
    row->set_group_count(static_cast<uint32_t>(op.groups.size()));
    row->set_reach(reaches_[g]);
    for (const size_t other : op.groups)
      if (reaches_[other] != row->reach()) row->set_reach(Wider(row->reach(), reaches_[other]));
    row->set_transfer_count(op.sums.transfer_count);
    SetTransfer(op, row);
    if (op.sums.transfer_count != 0)
      row->set_mean_transfer_ns(op.sums.transfer_ns / static_cast<int64_t>(op.sums.transfer_count));
    const double factor = BusFactor(op.sums.kind, RanksOf(op.sums));
    if (factor > 0) row->set_bus_factor(factor);
  }

  // Adds the ranks of groups in which ranks receive different amounts.
  void AddExperts() {
    std::vector<results::ExpertLoad> rows;
    for (size_t g = 0; g < arrivals_.groups.size(); ++g) {
      const Communicator& group = GroupAt(g);
      if (group.of_kinds[static_cast<size_t>(CollectiveKind::kAllToAll)] != 0 &&
          group.members.size() > 1)
        AddExpertsOf(g, &rows);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const results::ExpertLoad& a, const results::ExpertLoad& b) {
                       return a.load_ratio() > b.load_ratio();
                     });
    for (results::ExpertLoad& row : rows) *out_.add_experts() = std::move(row);
  }

  void AddExpertsOf(size_t g, std::vector<results::ExpertLoad>* rows) const {
    const Communicator& group = GroupAt(g);
    std::vector<results::ExpertLoad> own;
    uint64_t all = 0;
    for (const size_t member : group.members) {
      results::ExpertLoad& row = own.emplace_back();
      SetRank(member, &row);
      row.set_group(group.name);
      for (const CollectiveEntry& entry : ranks_[member].found.entries) {
        const uint32_t of = entry.group == kNoGroup
                                ? arrivals_.groups_of_ranks[member].back()
                                : arrivals_.groups_of_ranks[member][entry.group];
        if (of != g || entry.kind != CollectiveKind::kAllToAll || !entry.received_bytes) continue;
        row.set_received_bytes(row.received_bytes() + *entry.received_bytes);
        row.set_count(row.count() + 1);
      }
      all += row.received_bytes();
    }
    if (all == 0) return;
    const double mean = static_cast<double>(all) / static_cast<double>(own.size());
    for (results::ExpertLoad& row : own) {
      row.set_load_ratio(static_cast<double>(row.received_bytes()) / mean);
      rows->push_back(std::move(row));
    }
  }

  void AddStages() {
    for (const StageTime& stage : times_.stages) {
      results::PipelineStage* row = out_.add_stages();
      SetRank(stage.rank, row);
      row->set_message_count(stage.message_count);
      row->set_count(stage.window_count);
      row->set_window_ns(stage.window_ns);
      row->set_bubble_ns(stage.bubble_ns);
      row->set_bubble_ratio(Ratio(stage.bubble_ns, stage.window_ns));
    }
    std::stable_sort(out_.mutable_stages()->begin(), out_.mutable_stages()->end(),
                     [](const results::PipelineStage& a, const results::PipelineStage& b) {
                       return a.bubble_ratio() > b.bubble_ratio();
                     });
  }

  void SetLate(const Straggler& late, results::Straggler* row) const {
    SetRank(late.rank, row);
    if (arrivals_.ranks[late.rank].device) row->set_device(*arrivals_.ranks[late.rank].device);
    row->set_count(late.count);
    row->set_of_count(late.of);
    row->set_lead_ns(late.lead_ns);
    row->set_lead_ratio(late.lead_ratio);
    row->set_max_ns(late.longest_ns);
    row->set_max_start_ns(late.longest_start_ns);
    row->set_caused_ns(arrivals_.ranks[late.rank].caused_ns);
  }

  const std::vector<JobRank>& ranks_;
  const Arrivals& arrivals_;
  const CommunicationTimes& times_;
  const Judgement& judgement_;
  results::Communication& out_;
  std::vector<ParallelGuess> kinds_;  // by group, as are the next two
  std::vector<results::GroupReach> reaches_;
  std::vector<std::string> families_;
};

// Returns the steps of ranks that send messages, by rank.
std::vector<std::vector<Interval>> StepsOfStages(PassContext& context,
                                                 const std::vector<JobRank>& ranks) {
  std::vector<std::vector<Interval>> steps(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::vector<CollectiveEntry>& entries = ranks[i].found.entries;
    const bool has_messages =
        std::any_of(entries.begin(), entries.end(),
                    [](const CollectiveEntry& entry) { return IsMessage(entry.kind); });
    if (has_messages) steps[i] = context.steps(context.selected()[ranks[i].index]).Counted();
  }
  return steps;
}

}  // namespace

Error RunCommunication(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Communication>();
  std::vector<const Process*> processes;
  for (const size_t index : context.selected()) processes.push_back(&context.process(index));
  const std::vector<JobRank> ranks = FindJobRanks(processes);
  const Arrivals arrivals = FindArrivals(ranks);
  const Judgement judgement = JudgeLateness(arrivals, LatenessLimits());
  const CommunicationTimes times =
      FindCommunicationTimes(ranks, arrivals, StepsOfStages(context, ranks));
  Filler(ranks, arrivals, times, judgement, out.get()).Fill();
  context.FillCountMeta("communication", out->mutable_meta());
  // A collective that was not recorded shifts all that come after it.
  context.LimitToEvents(out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
