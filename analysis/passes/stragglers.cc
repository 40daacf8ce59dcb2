// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `stragglers`: what a job loses because its ranks differ. See passes.h.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/derived/arrivals.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/device/rank_kernels.h"
#include "analysis/passes/device/rank_lanes.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/straggler_rows.h"
#include "proto/results/stragglers.pb.h"

namespace gpuprof::analysis {
namespace {

// Ranks that a slow rank's kernels are compared with, and slow ranks of which kernels are looked
// at.
constexpr size_t kMostCompared = 4, kMostLookedAt = 8;

results::StragglerMatch MatchOf(ArrivalMatch match) {
  switch (match) {
    case ArrivalMatch::kNoCollectives:
      return results::STRAGGLER_MATCH_NONE;
    case ArrivalMatch::kOneRank:
      return results::STRAGGLER_MATCH_ONE_RANK;
    case ArrivalMatch::kDifferentOrder:
    case ArrivalMatch::kSeveralGroups:
      return results::STRAGGLER_MATCH_DIFFERENT_ORDER;
    case ArrivalMatch::kUnplaced:
      return results::STRAGGLER_MATCH_UNPLACED;
    case ArrivalMatch::kClocks:
      return results::STRAGGLER_MATCH_CLOCKS;
    case ArrivalMatch::kMatched:
      return results::STRAGGLER_MATCH_COMPARED;
  }
  return results::STRAGGLER_MATCH_UNKNOWN;
}

results::StragglerMatch MatchOf(JobFault fault) {
  switch (fault) {
    case JobFault::kNone:
      return results::STRAGGLER_MATCH_COMPARED;
    case JobFault::kNoSteps:
      return results::STRAGGLER_MATCH_NO_STEPS;
    case JobFault::kNoCollectives:
      return results::STRAGGLER_MATCH_NONE;
    case JobFault::kDifferentOrder:
      return results::STRAGGLER_MATCH_DIFFERENT_ORDER;
    case JobFault::kNoEnds:
      return results::STRAGGLER_MATCH_NO_ENDS;
    case JobFault::kNoSuchSteps:
      break;
    case JobFault::kTooLarge:
      return results::STRAGGLER_MATCH_TOO_LARGE;
  }
  return results::STRAGGLER_MATCH_UNKNOWN;
}

class JobAsker {
 public:
  JobAsker(PassContext& context, results::Stragglers* out) : context_(context), out_(*out) {}

  Error Ask() {
    std::vector<const Process*> processes;
    for (const size_t index : context_.selected()) processes.push_back(&context_.process(index));
    const Arrivals arrivals = FindArrivals(processes);
    out_.set_match(MatchOf(arrivals.match));
    out_.set_of_kernels(arrivals.is_of_kernels);
    out_.set_rank_count(static_cast<uint32_t>(arrivals.ranks.size()));
    out_.set_clock_error_ns(arrivals.clock_error_ns);
    if (arrivals.match != ArrivalMatch::kMatched) return {};
    FillLateness(arrivals, processes);
    lanes_ = MakeRankLanes(context_, arrivals, context_.selected());
    job_ = MakeJobSchedule(lanes_.job, context_.options().steps);
    if (job_.fault == JobFault::kNoSuchSteps) return NoSuchSteps();
    out_.set_match(MatchOf(job_.fault));
    out_.set_left_out_count(job_.left_out_steps);
    if (job_.fault != JobFault::kNone) return {};
    const StragglerAnswer answer = FillStragglers(job_.schedule, Places(), &out_);
    if (!answer.is_possible) {
      out_.set_match(results::STRAGGLER_MATCH_DIFFERENT_ORDER);
      return {};
    }
    FillWaits(answer.findings);
    FillCauses(answer.findings);
    return {};
  }

 private:
  Error NoSuchSteps() const {
    const auto [first, last] = *context_.options().steps;
    return {ErrorKind::kUsage, "No step of all ranks has a number from " + std::to_string(first) +
                                   " to " + std::to_string(last) +
                                   "; 'gpuprof stats steps' lists their numbers."};
  }

  void FillLateness(const Arrivals& arrivals, const std::vector<const Process*>& processes) {
    const Judgement judgement = JudgeLateness(arrivals, LatenessLimits());
    switch (judgement.lateness) {
      case Lateness::kNone:
        return out_.set_lateness(results::LATENESS_NONE);
      case Lateness::kOnce:
        return out_.set_lateness(results::LATENESS_ONCE);
      case Lateness::kTooFew:
        return out_.set_lateness(results::LATENESS_TOO_FEW);
      case Lateness::kInTurns:
        return out_.set_lateness(results::LATENESS_IN_TURNS);
      case Lateness::kLate:
        break;
    }
    out_.set_lateness(results::LATENESS_LATE);
    out_.set_late_name(ProcessName(*processes[arrivals.ranks[judgement.late()->rank].process]));
  }

  std::vector<StragglerPlace> Places() const {
    std::vector<StragglerPlace> places;
    for (size_t lane = 0; lane < lanes_.processes.size(); ++lane) {
      const Process& process = context_.process(lanes_.processes[lane]);
      StragglerPlace& place = places.emplace_back();
      place.pid = process.pid;
      place.host = process.host;
      place.name = ProcessName(process);
      place.device = lanes_.devices[lane];
      if (const auto rank = RankOf(process)) place.rank = rank->number;
    }
    return places;
  }

  const LaneStep& StepOf(size_t lane, size_t step) const {
    return lanes_.job.lanes[lane].steps[job_.rows[lane][step]];
  }

  // Returns when the last rank came to each collective of a step.
  std::vector<int64_t> LastArrivals(size_t step) const {
    std::vector<int64_t> last(StepOf(0, step).collectives.size(), INT64_MIN);
    for (size_t lane = 0; lane < lanes_.job.lanes.size(); ++lane)
      for (size_t i = 0; i < last.size(); ++i)
        last[i] = std::max(last[i], StepOf(lane, step).collectives[i].arrival_ns);
    return last;
  }

  // Returns what a lane waits for others in a step of the schedule.
  static int64_t WaitIn(const LaneStep& own, const std::vector<int64_t>& last) {
    int64_t waited = 0, until = INT64_MIN;
    for (size_t i = 0; i < own.collectives.size(); ++i) {
      const Interval& wait = own.collectives[i].wait;
      const Interval part = {std::max(wait.start, until), std::min(wait.end, last[i])};
      waited += std::max<int64_t>(0, part.length());
      until = std::max(until, wait.end);
    }
    return waited;
  }

  void FillWaits(const StragglerFindings& findings) {
    const size_t lanes = lanes_.job.lanes.size(), steps = job_.schedule.steps.size();
    std::vector<int64_t> sums(lanes, 0);
    std::vector<bool> is_slow(lanes, false);
    std::vector<bool> counts(steps, findings.workers.empty());
    for (const SlowWorker& slow : findings.workers) is_slow[slow.worker] = true;
    if (!findings.workers.empty())
      for (const size_t step : findings.workers.front().slow_steps) counts[step] = true;
    int64_t in_run = 0;
    for (size_t step = 0; step < steps; ++step) {
      const std::vector<int64_t> last = LastArrivals(step);
      for (size_t lane = 0; lane < lanes; ++lane) {
        const int64_t waited = WaitIn(StepOf(lane, step), last);
        sums[lane] += waited;
        if (!is_slow[lane] && counts[step]) in_run += waited;
      }
    }
    const auto others = std::count(is_slow.begin(), is_slow.end(), false);
    if (others > 0)
      out_.set_waited_per_step_ns(in_run / others / std::count(counts.begin(), counts.end(), true));
    for (results::StragglerRank& row : *out_.mutable_ranks())
      row.set_waited_ns(sums[row.replica()] / static_cast<int64_t>(steps));
  }

  void FillCauses(const StragglerFindings& findings) {
    // What is nearly all of the extra time, or hardly any.
    constexpr double kMost = 0.7;
    std::vector<size_t> others;
    for (size_t lane = 0; lane < lanes_.processes.size() && others.size() < kMostCompared; ++lane) {
      const bool is_slow = std::any_of(findings.workers.begin(), findings.workers.end(),
                                       [&](const SlowWorker& slow) { return slow.worker == lane; });
      if (!is_slow) others.push_back(lane);
    }
    for (size_t i = 0; i < findings.workers.size() && i < kMostLookedAt; ++i) {
      const SlowWorker& slow = findings.workers[i];
      KernelQuestion question;
      question.lane = slow.worker;
      question.others = others;
      if (!FindPhase(job_.schedule.types[slow.type], &question.phase)) continue;
      for (const std::vector<size_t>& rows : job_.rows) {
        std::vector<size_t>& steps = question.steps.emplace_back();
        for (const size_t step : slow.slow_steps) steps.push_back(rows[step]);
      }
      const auto answer = CompareKernels(context_, lanes_, question);
      if (!answer) continue;
      results::SlowRank* row = out_.mutable_slow(static_cast<int>(i));
      row->set_same_kernels_ratio(answer->same_ratio);
      row->set_kernel(answer->kernel);
      row->set_cause(answer->same_ratio >= kMost       ? results::STRAGGLER_CAUSE_SLOWER_DEVICE
                     : answer->same_ratio <= 1 - kMost ? results::STRAGGLER_CAUSE_MORE_WORK
                                                       : results::STRAGGLER_CAUSE_BOTH);
    }
  }

  static bool FindPhase(const std::string& type, LanePhase* phase) {
    for (size_t i = 0; i < kLanePhases; ++i) {
      *phase = static_cast<LanePhase>(i);
      if (PhaseName(*phase) == type) return true;
    }
    return false;
  }

  PassContext& context_;
  results::Stragglers& out_;
  RankLanes lanes_;
  JobSchedule job_;
};

}  // namespace

Error RunStragglers(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Stragglers>();
  if (Error error = JobAsker(context, out.get()).Ask()) return error;
  context.FillCountMeta("stragglers", out->mutable_meta());
  context.LimitToEvents(out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
