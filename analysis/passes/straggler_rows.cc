// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See straggler_rows.h.

#include "analysis/passes/straggler_rows.h"

#include <cmath>
#include <numeric>

#include "analysis/passes/context.h"
#include "analysis/steps/statistics.h"
#include "analysis/stragglers/simulation.h"
#include "analysis/stragglers/what_if.h"

namespace gpuprof::analysis {
namespace {

int64_t Whole(double ns) { return std::llround(ns); }

results::StragglerVerdict VerdictOf(StragglerVerdict verdict) {
  switch (verdict) {
    case StragglerVerdict::kBalanced:
      return results::STRAGGLER_VERDICT_BALANCED;
    case StragglerVerdict::kWorkers:
      return results::STRAGGLER_VERDICT_RANKS;
    case StragglerVerdict::kStage:
      return results::STRAGGLER_VERDICT_STAGE;
    case StragglerVerdict::kInTurns:
      return results::STRAGGLER_VERDICT_IN_TURNS;
  }
  return results::STRAGGLER_VERDICT_UNKNOWN;
}

class RowFiller {
 public:
  RowFiller(const Schedule& schedule, const std::vector<StragglerPlace>& places,
            results::Stragglers* out)
      : schedule_(schedule), places_(places), out_(*out), simulation_(schedule) {}

  StragglerAnswer Fill() {
    StragglerAnswer answer;
    answer.is_possible = simulation_.is_possible();
    if (!answer.is_possible) return answer;
    what_if_ = AskWhatIf(schedule_, simulation_);
    std::vector<std::string> hosts;
    for (const StragglerPlace& place : places_) hosts.push_back(place.host);
    answer.findings = FindStragglers(schedule_, simulation_, what_if_, hosts);
    FillFigures(answer.findings);
    FindTimes();
    if (what_if_.has_groups) {
      FillTypes();
      FillStages();
    }
    FillRanks();
    FillSteps();
    FillSlow(answer.findings);
    return answer;
  }

 private:
  void FillFigures(const StragglerFindings& findings) {
    out_.set_match(results::STRAGGLER_MATCH_COMPARED);
    out_.set_rank_count(static_cast<uint32_t>(schedule_.workers()));
    out_.set_replica_count(static_cast<uint32_t>(schedule_.replicas));
    out_.set_stage_count(static_cast<uint32_t>(schedule_.stages));
    out_.set_step_count(static_cast<uint32_t>(schedule_.steps.size()));
    out_.set_total_ns(Whole(what_if_.real_ns));
    out_.set_ideal_ns(Whole(what_if_.ideal_ns));
    out_.set_slowdown(what_if_.slowdown);
    out_.set_observed_ns(Whole(what_if_.observed_ns));
    out_.set_simulation_error_ratio(what_if_.Error());
    out_.set_verdict(VerdictOf(findings.verdict));
    if (what_if_.worker_part) out_.set_slowest_ratio(*what_if_.worker_part);
    if (what_if_.stage_part) out_.set_last_stage_ratio(*what_if_.stage_part);
    double saved = findings.saved_ns;
    if (findings.verdict == StragglerVerdict::kStage) saved = findings.stage->saved_ns;
    if (findings.verdict != StragglerVerdict::kWorkers &&
        findings.verdict != StragglerVerdict::kStage)
      return;
    out_.set_saved_ns(Whole(saved));
    out_.set_saved_ratio(Ratio(saved, what_if_.real_ns));
  }

  // Sums the times of types, and the work of workers.
  void FindTimes() {
    type_ns_.assign(schedule_.types.size(), 0);
    is_transfer_.assign(schedule_.types.size(), false);
    work_ns_.assign(schedule_.workers(), 0);
    for (size_t i = 0; i < schedule_.operations.size(); ++i) {
      const PlannedOperation& operation = schedule_.operations[i];
      const std::vector<double>& took = schedule_.durations[i];
      type_ns_[operation.type] =
          std::accumulate(took.begin(), took.end(), type_ns_[operation.type]);
      if (operation.group != kNoPeers) {
        is_transfer_[operation.type] = true;
        continue;
      }
      for (size_t lane = 0; lane < took.size(); ++lane)
        work_ns_[lane % schedule_.replicas * schedule_.stages + operation.stage] += took[lane];
    }
  }

  void FillTypes() {
    for (size_t type = 0; type < schedule_.types.size(); ++type) {
      results::StragglerType* row = out_.add_types();
      row->set_name(schedule_.types[type]);
      row->set_slowdown(what_if_.types[type].slowdown);
      row->set_saved_ns(Whole(what_if_.real_ns - *what_if_.types[type].without_ns));
      row->set_total_ns(Whole(type_ns_[type]));
      row->set_transfer(is_transfer_[type]);
    }
    SortBySlowdown(out_.mutable_types());
  }

  void FillStages() {
    if (schedule_.stages < 2) return;
    for (uint32_t stage = 0; stage < schedule_.stages; ++stage) {
      results::StragglerStage* row = out_.add_stages();
      row->set_stage(stage);
      row->set_slowdown(what_if_.stages[stage].slowdown);
      row->set_saved_ns(Whole(what_if_.real_ns - *what_if_.stages[stage].without_ns));
    }
    SortBySlowdown(out_.mutable_stages());
  }

  template <typename Rows>
  static void SortBySlowdown(Rows* rows) {
    std::stable_sort(rows->begin(), rows->end(),
                     [](const auto& a, const auto& b) { return a.slowdown() > b.slowdown(); });
  }

  template <typename Row>
  void SetPlace(uint32_t worker, Row* row) const {
    const StragglerPlace& place = places_[worker];
    row->set_pid(place.pid);
    row->set_host(place.host);
    row->set_name(place.name);
    if (place.device) row->set_device(*place.device);
    if (place.rank) row->set_rank(*place.rank);
    row->set_stage(worker % static_cast<uint32_t>(schedule_.stages));
  }

  void FillRanks() {
    for (uint32_t worker = 0; worker < schedule_.workers(); ++worker) {
      results::StragglerRank* row = out_.add_ranks();
      SetPlace(worker, row);
      row->set_replica(worker / static_cast<uint32_t>(schedule_.stages));
      row->set_work_ns(Whole(work_ns_[worker] / static_cast<double>(schedule_.steps.size())));
      if (!what_if_.has_groups) continue;
      const WorkerEffect& effect = what_if_.workers[worker];
      row->set_slowdown(effect.slowdown);
      if (effect.without_ns) row->set_saved_ns(Whole(what_if_.real_ns - *effect.without_ns));
    }
    for (const uint32_t worker : what_if_.slowest)
      out_.mutable_ranks(static_cast<int>(worker))->set_slowest(true);
  }

  void FillSteps() {
    const auto culprits = FindCulprits(schedule_, simulation_);
    for (size_t i = 0; i < schedule_.steps.size(); ++i) {
      results::StragglerStep* row = out_.add_steps();
      row->set_step(schedule_.steps[i]);
      row->set_total_ns(Whole(what_if_.real_steps[i]));
      row->set_ideal_ns(Whole(what_if_.ideal_steps[i]));
      row->set_slowdown(Ratio(what_if_.real_steps[i], what_if_.ideal_steps[i]));
      if (!culprits[i]) continue;
      const StragglerPlace& place = places_[culprits[i]->worker];
      if (place.rank) row->set_rank(*place.rank);
      row->set_name(place.name);
      row->set_type(schedule_.types[culprits[i]->type]);
      row->set_path_ns(Whole(culprits[i]->ns));
      row->set_extra_ns(Whole(culprits[i]->extra_ns));
      results::StragglerRank* rank = out_.mutable_ranks(static_cast<int>(culprits[i]->worker));
      rank->set_culprit_count(rank->culprit_count() + 1);
    }
    // The culprits are counted by their place, so the order comes last.
    std::stable_sort(out_.mutable_ranks()->begin(), out_.mutable_ranks()->end(),
                     [](const results::StragglerRank& a, const results::StragglerRank& b) {
                       return a.slowdown() > b.slowdown();
                     });
  }

  void FillSlow(const StragglerFindings& findings) {
    for (const SlowWorker& slow : findings.workers) {
      results::SlowRank* row = out_.add_slow();
      SetPlace(slow.worker, row);
      row->set_type(schedule_.types[slow.type]);
      row->set_first_step(schedule_.steps[slow.steps.first]);
      row->set_last_step(schedule_.steps[slow.steps.last]);
      row->set_step_count(slow.slow_steps.size());
      row->set_all_steps(slow.slow_steps.size() == schedule_.steps.size());
      row->set_single_steps(slow.slow_steps.size() != slow.steps.count());
      if (slow.every != 0) row->set_every_step(slow.every);
      row->set_extra_ns(Whole(slow.extra_ns));
      row->set_usual_ns(Whole(slow.usual_ns));
      row->set_step_ns(Whole(slow.step_ns));
      row->set_saved_ns(Whole(slow.saved_ns));
      row->set_saved_ratio(Ratio(slow.saved_ns, what_if_.real_ns));
    }
    if (findings.stage) {
      results::SlowStage* row = out_.mutable_slow_stage();
      row->set_stage(findings.stage->stage);
      row->set_is_last(findings.stage->stage + 1 == schedule_.stages);
      row->set_type(schedule_.types[findings.stage->type]);
      row->set_factor(findings.stage->factor);
      row->set_saved_ns(Whole(findings.stage->saved_ns));
    }
    for (const std::string& host : findings.hosts) out_.add_slow_hosts(host);
  }

  const Schedule& schedule_;
  const std::vector<StragglerPlace>& places_;
  results::Stragglers& out_;
  Simulation simulation_;
  WhatIf what_if_;
  std::vector<double> type_ns_, work_ns_;
  std::vector<bool> is_transfer_;
};

}  // namespace

StragglerAnswer FillStragglers(const Schedule& schedule, const std::vector<StragglerPlace>& places,
                               results::Stragglers* out) {
  return RowFiller(schedule, places, out).Fill();
}

void FillStragglerMeta(const std::string& path, uint64_t rows, results::Meta* meta) {
  meta->set_pass("stragglers");
  meta->set_schema_version(kResultSchema);
  meta->set_path(path);
  results::Input* input = meta->add_inputs();
  input->set_name(path.substr(path.rfind('/') + 1));
  input->set_count(rows);
  meta->mutable_confidence()->set_level(results::LEVEL_HIGH);
  meta->mutable_confidence()->set_reason("the operations of all workers are in the table");
}

}  // namespace gpuprof::analysis
