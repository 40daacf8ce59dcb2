// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `collectives`: arrivals of ranks at collectives. See passes.h.

#include <memory>
#include <utility>
#include <vector>

#include "analysis/derived/arrivals.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/collectives.pb.h"

namespace gpuprof::analysis {
namespace {

// A flood of pairs helps none: a job of a thousand ranks has a million.
constexpr size_t kMostPairs = 10'000;

results::CollectiveMatch MatchOf(ArrivalMatch match) {
  switch (match) {
    case ArrivalMatch::kNoCollectives:
      return results::COLLECTIVE_MATCH_NONE;
    case ArrivalMatch::kOneRank:
      return results::COLLECTIVE_MATCH_ONE_RANK;
    case ArrivalMatch::kDifferentOrder:
      return results::COLLECTIVE_MATCH_DIFFERENT_ORDER;
    case ArrivalMatch::kUnplaced:
      return results::COLLECTIVE_MATCH_UNPLACED;
    case ArrivalMatch::kClocks:
      return results::COLLECTIVE_MATCH_CLOCKS;
    case ArrivalMatch::kMatched:
      return results::COLLECTIVE_MATCH_MATCHED;
  }
  return results::COLLECTIVE_MATCH_UNKNOWN;
}

results::Lateness LatenessOf(Lateness lateness) {
  switch (lateness) {
    case Lateness::kNone:
      return results::LATENESS_NONE;
    case Lateness::kOnce:
      return results::LATENESS_ONCE;
    case Lateness::kTooFew:
      return results::LATENESS_TOO_FEW;
    case Lateness::kInTurns:
      return results::LATENESS_IN_TURNS;
    case Lateness::kLate:
      return results::LATENESS_LATE;
  }
  return results::LATENESS_UNKNOWN;
}

class Filler {
 public:
  Filler(const Arrivals& arrivals, const Judgement& judgement,
         const std::vector<const Process*>& processes, results::Collectives* out)
      : arrivals_(arrivals), judgement_(judgement), processes_(processes), out_(*out) {}

  void Fill() {
    out_.set_match(MatchOf(arrivals_.match));
    out_.set_rank_count(static_cast<uint32_t>(arrivals_.ranks.size()));
    out_.set_matched_count(arrivals_.matched_count);
    out_.set_undecided_count(arrivals_.undecided_count);
    out_.set_window_ns(arrivals_.end_ns - arrivals_.start_ns);
    out_.set_of_kernels(arrivals_.is_of_kernels);
    out_.set_clock_error_ns(arrivals_.clock_error_ns);
    for (const RankArrivals& rank : arrivals_.ranks) AddRank(rank);
    for (size_t i = 0; i < arrivals_.waits.size() && i < kMostPairs; ++i)
      AddWait(arrivals_.waits[i]);
    for (const ArrivalsOfOp& op : arrivals_.ops) AddOp(op);
    if (arrivals_.match != ArrivalMatch::kMatched) return;
    out_.set_lateness(LatenessOf(judgement_.lateness));
    if (judgement_.late() != nullptr)
      SetLate(*judgement_.late(), out_.mutable_late());
    else if (judgement_.most_late)
      SetLate(*judgement_.most_late, out_.mutable_most_late());
  }

 private:
  const Process& ProcessOf(size_t rank) const { return *processes_[arrivals_.ranks[rank].process]; }

  template <typename Row>
  void SetRank(size_t rank, Row* row) const {
    SetProcess(ProcessOf(rank), row);
    row->set_name(ProcessName(ProcessOf(rank)));
    if (arrivals_.ranks[rank].device) row->set_device(*arrivals_.ranks[rank].device);
  }

  void AddRank(const RankArrivals& rank) {
    results::CollectiveRank* row = out_.add_ranks();
    SetRank(static_cast<size_t>(&rank - arrivals_.ranks.data()), row);
    row->set_count(rank.recorded_count);
    row->set_last_count(rank.last_count);
    row->set_last_ratio(Ratio(rank.last_count, arrivals_.matched_count));
    row->set_lead_ns(rank.lead_ns);
    row->set_early_ns(rank.early_ns);
    if (rank.waited_ns) row->set_waited_ns(*rank.waited_ns);
    if (rank.exchange_ns) row->set_exchange_ns(*rank.exchange_ns);
    row->set_caused_ns(rank.caused_ns);
    row->set_clock_offset_ns(rank.clock_offset_ns);
    out_.set_waited_ns(out_.waited_ns() + rank.waited_ns.value_or(rank.early_ns));
  }

  void AddWait(const RankWait& wait) {
    results::CollectiveWait* row = out_.add_waits();
    SetRank(wait.waiter, row);
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

  void AddOp(const ArrivalsOfOp& op) {
    results::CollectiveOp* row = out_.add_operations();
    row->set_name(op.name);
    row->set_count(op.count);
    row->set_spread_ns(op.spread_ns);
    row->set_mean_ns(op.spread_ns / static_cast<int64_t>(op.count));
    row->set_max_ns(op.max_spread_ns);
    row->set_max_start_ns(op.max_start_ns);
  }

  void SetLate(const Straggler& late, results::Straggler* row) const {
    SetRank(late.rank, row);
    row->set_count(late.count);
    row->set_of_count(late.of);
    row->set_lead_ns(late.lead_ns);
    row->set_lead_ratio(late.lead_ratio);
    row->set_max_ns(late.longest_ns);
    row->set_max_start_ns(late.longest_start_ns);
    row->set_caused_ns(arrivals_.ranks[late.rank].caused_ns);
  }

  const Arrivals& arrivals_;
  const Judgement& judgement_;
  const std::vector<const Process*>& processes_;
  results::Collectives& out_;
};

}  // namespace

Error RunCollectives(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Collectives>();
  std::vector<const Process*> processes;
  for (const size_t index : context.selected()) processes.push_back(&context.process(index));
  const Arrivals arrivals = FindArrivals(processes);
  const Judgement judgement = JudgeLateness(arrivals, LatenessLimits());
  Filler(arrivals, judgement, processes, out.get()).Fill();
  context.FillCountMeta("collectives", out->mutable_meta());
  // A collective that was not recorded shifts all that come after it.
  context.LimitToEvents(out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
