// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See findings.h.

#include "analysis/stragglers/findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace gpuprof::analysis {
namespace {

// With its times alone the job is so much slower.
constexpr double kLeastEffect = 0.015;
constexpr size_t kMostCandidates = 64;
// Steps that tell a habit, and their excess, as a part of the step and in deviations of the noise.
constexpr size_t kLeastSteps = 5;
constexpr double kLeastExtra = 0.05, kLeastDeviations = 6;
// What the slow workers together cost at least, as a part of T.
constexpr double kLeastSaved = 0.02;
// A host is slow if so many of its workers are.
constexpr double kMostOfHost = 0.75;
// A slow stage causes so much of the lost time.
constexpr double kLeastStagePart = 0.5;
// Chance makes jobs slower, too: the last of many ranks is later than the mean one.
constexpr double kLeastInTurns = 1.1;
constexpr double kDeviationOfMad = 1.4826;

double MedianOf(std::vector<double>* values) {
  if (values->empty()) return 0;
  const auto middle = values->begin() + static_cast<std::ptrdiff_t>(values->size() / 2);
  std::nth_element(values->begin(), middle, values->end());
  if (values->size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values->begin(), middle)) / 2;
}

double MeanOf(const std::vector<double>& values, const StepRun& run) {
  const auto from = values.begin() + static_cast<std::ptrdiff_t>(run.first);
  return std::accumulate(from, from + static_cast<std::ptrdiff_t>(run.count()), 0.0) /
         static_cast<double>(run.count());
}

double MeanOf(const std::vector<double>& values, const std::vector<size_t>& places) {
  double sum = 0;
  for (const size_t place : places) sum += values[place];
  return sum / static_cast<double>(places.size());
}

std::vector<size_t> AllOf(const StepRun& run) {
  std::vector<size_t> all(run.count());
  std::iota(all.begin(), all.end(), run.first);
  return all;
}

// Returns how many steps lie from each place to the next. 0: it varies, or they follow each other.
size_t PeriodOf(const std::vector<size_t>& places) {
  if (places.size() < 3) return 0;
  const size_t period = places[1] - places[0];
  for (size_t i = 1; i < places.size(); ++i)
    if (places[i] - places[i - 1] != period) return 0;
  return period > 1 ? period : 0;
}

// The times of one type of computing in one stage.
struct TypeTimes {
  uint32_t type = 0;
  std::vector<double> sums;     // by lane
  std::vector<double> medians;  // by step: of all replicas
  double noise = 0;             // the usual distance from a median: of a step, or of a replica
};

// The run of steps whose excess stands out.
std::optional<StepRun> SlowRun(const std::vector<double>& excess) {
  // Half of what the slowest steps in a row exceed the others by. One long step does not matter.
  double level = 0;
  for (size_t i = 0; i + kLeastSteps <= excess.size(); ++i) {
    const auto from = excess.begin() + static_cast<std::ptrdiff_t>(i);
    std::vector<double> window(from, from + static_cast<std::ptrdiff_t>(kLeastSteps));
    level = std::max(level, MedianOf(&window) / 2);
  }
  if (level <= 0) return std::nullopt;
  double best = 0, sum = 0;
  size_t first = 0;
  std::optional<StepRun> run;
  for (size_t i = 0; i < excess.size(); ++i) {
    if (sum <= 0) {
      sum = 0;
      first = i;
    }
    sum += excess[i] - level;
    if (sum <= best) continue;
    best = sum;
    run = {first, i};
  }
  if (!run || run->count() < kLeastSteps) return std::nullopt;
  // Most steps of the run must be slow, not a few of them very much.
  const auto from = excess.begin() + static_cast<std::ptrdiff_t>(run->first);
  std::vector<double> own(from, from + static_cast<std::ptrdiff_t>(run->count()));
  return MedianOf(&own) >= MeanOf(excess, *run) / 2 ? run : std::nullopt;
}

// Returns single steps whose excess is clearly apart from that of all other steps, if they do not
// follow each other. Empty: there are no such steps. `noise`: the usual distance from a median.
std::vector<size_t> SingleSteps(const std::vector<double>& excess, double noise) {
  // So many steps at least: a habit, and in a short recording a part of its steps.
  constexpr size_t kFewest = 3;
  constexpr double kLeastPart = 0.25;
  // The gap between slow steps and others, in deviations of the noise, and by the slow ones.
  constexpr double kLeastGap = 6, kLeastGapPart = 0.4;
  // At most so many of the steps from the first to the last one are slow.
  constexpr double kMostOfRun = 0.8;
  std::vector<double> sorted = excess;
  std::sort(sorted.rbegin(), sorted.rend());
  double widest = 0;
  size_t count = 0;
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1] - sorted[i] <= widest) continue;
    widest = sorted[i - 1] - sorted[i];
    count = i;
  }
  const double part = static_cast<double>(count) / static_cast<double>(excess.size());
  if (count < kFewest || (count < kLeastSteps && part < kLeastPart)) return {};
  const double least = sorted[count - 1];
  if (widest < kLeastGap * noise || widest < kLeastGapPart * least) return {};
  std::vector<size_t> places;
  for (size_t step = 0; step < excess.size(); ++step)
    if (excess[step] >= least) places.push_back(step);
  const double run = static_cast<double>(places.back() - places.front() + 1);
  if (static_cast<double>(places.size()) > kMostOfRun * run) return {};
  return places;
}

class StragglerFinder {
 public:
  StragglerFinder(const Schedule& schedule, const Simulation& simulation, const WhatIf& what_if,
                  const std::vector<std::string>& hosts)
      : schedule_(schedule), simulation_(simulation), what_if_(what_if), hosts_(hosts) {}

  StragglerFindings Find() {
    if (!what_if_.has_groups) return std::move(out_);
    out_.verdict = what_if_.slowdown < kLeastInTurns ? StragglerVerdict::kBalanced
                                                     : StragglerVerdict::kInTurns;
    FindWorkers();
    FindStage();
    if (!out_.workers.empty()) {
      std::vector<uint32_t> slow;
      for (const SlowWorker& each : out_.workers) slow.push_back(each.worker);
      std::sort(slow.begin(), slow.end());
      out_.saved_ns = what_if_.real_ns - TimeWithout(schedule_, simulation_, slow);
      // Who costs the job next to nothing is not slow.
      if (out_.saved_ns < kLeastSaved * what_if_.real_ns) {
        out_.workers.clear();
        out_.saved_ns = 0;
      }
      MarkHosts();
    }
    const bool is_of_workers = !out_.workers.empty();
    // A stage that has a slow worker is slow by it.
    constexpr double kClearlyMore = 1.25;
    if (out_.stage && out_.stage->saved_ns > kClearlyMore * out_.saved_ns) {
      out_.verdict = StragglerVerdict::kStage;
    } else if (is_of_workers) {
      out_.verdict = StragglerVerdict::kWorkers;
      out_.stage.reset();
    }
    return std::move(out_);
  }

 private:
  void FindWorkers() {
    if (schedule_.replicas < 2 || schedule_.steps.size() < kLeastSteps) return;
    std::vector<uint32_t> order(what_if_.workers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      return what_if_.workers[a].slowdown > what_if_.workers[b].slowdown;
    });
    for (size_t i = 0; i < order.size() && i < kMostCandidates; ++i) {
      const WorkerEffect& worker = what_if_.workers[order[i]];
      if (worker.slowdown < 1 + kLeastEffect) break;
      if (const auto slow = Examine(order[i])) out_.workers.push_back(*slow);
    }
  }

  const std::vector<TypeTimes>& TimesOf(uint32_t stage) {
    std::vector<TypeTimes>& all = times_[stage];
    if (!all.empty()) return all;
    std::map<uint32_t, std::vector<double>> sums;
    for (size_t i = 0; i < schedule_.operations.size(); ++i) {
      const PlannedOperation& operation = schedule_.operations[i];
      if (operation.stage != stage || operation.group != kNoPeers) continue;
      std::vector<double>& sum = sums[operation.type];
      sum.resize(schedule_.lanes(), 0);
      const std::vector<double>& took = schedule_.durations[i];
      for (size_t lane = 0; lane < sum.size(); ++lane) sum[lane] += took[lane];
    }
    const size_t replicas = schedule_.replicas;
    for (auto& [type, sum] : sums) {
      TypeTimes& times = all.emplace_back();
      times.type = type;
      std::vector<double> row, distances;
      for (size_t step = 0; step < schedule_.steps.size(); ++step) {
        const auto from = sum.begin() + static_cast<std::ptrdiff_t>(step * replicas);
        row.assign(from, from + static_cast<std::ptrdiff_t>(replicas));
        times.medians.push_back(MedianOf(&row));
        for (const double each : row) distances.push_back(std::abs(each - times.medians.back()));
      }
      const double across = MedianOf(&distances) * kDeviationOfMad;
      times.noise = std::min(across, NoiseInTime(sum));
      times.sums = std::move(sum);
    }
    return all;
  }

  // Returns the usual distance of a replica's times from their own median. Of two replicas, one of
  // which is slow, neither is near the median of both.
  double NoiseInTime(const std::vector<double>& sums) const {
    std::vector<double> noises;
    for (size_t replica = 0; replica < schedule_.replicas; ++replica) {
      std::vector<double> own;
      for (size_t lane = replica; lane < sums.size(); lane += schedule_.replicas)
        own.push_back(sums[lane]);
      const double median = MedianOf(&own);
      for (double& each : own) each = std::abs(each - median);
      noises.push_back(MedianOf(&own) * kDeviationOfMad);
    }
    return MedianOf(&noises);
  }

  // Returns what other replicas take in a step.
  double UsualOf(const TypeTimes& times, uint32_t replica, size_t step) const {
    constexpr size_t kMany = 8;  // one more value does not move the median then
    if (schedule_.replicas >= kMany) return times.medians[step];
    std::vector<double> others;
    for (size_t i = 0; i < schedule_.replicas; ++i)
      if (i != replica) others.push_back(times.sums[step * schedule_.replicas + i]);
    return MedianOf(&others);
  }

  std::optional<SlowWorker> Examine(uint32_t index) {
    const WorkerEffect& worker = what_if_.workers[index];
    SlowWorker slow;
    slow.worker = index;
    double most = 0;
    for (const TypeTimes& times : TimesOf(worker.stage)) {
      std::vector<double> excess(schedule_.steps.size());
      for (size_t step = 0; step < excess.size(); ++step)
        excess[step] = times.sums[step * schedule_.replicas + worker.replica] -
                       UsualOf(times, worker.replica, step);
      std::vector<size_t> places = SingleSteps(excess, times.noise);
      const std::optional<StepRun> run =
          places.empty() ? SlowRun(excess)
                         : std::optional<StepRun>({places.front(), places.back()});
      if (!run) continue;
      if (places.empty()) places = AllOf(*run);
      const auto count = static_cast<double>(places.size());
      const double extra = MeanOf(excess, places), sum = extra * count;
      const double step_ns = MeanOf(what_if_.real_steps, places);
      const double deviations = extra * std::sqrt(count) / std::max(times.noise, 1.0);
      if (sum <= most || extra < kLeastExtra * step_ns || deviations < kLeastDeviations) continue;
      most = sum;
      slow.type = times.type;
      slow.steps = *run;
      slow.extra_ns = extra;
      slow.usual_ns = 0;
      for (const size_t step : places)
        slow.usual_ns += UsualOf(times, worker.replica, step) / count;
      slow.step_ns = step_ns;
      slow.every = PeriodOf(places);
      slow.slow_steps = std::move(places);
    }
    if (most <= 0) return std::nullopt;
    const double without =
        worker.without_ns ? *worker.without_ns : TimeWithout(schedule_, simulation_, {index});
    slow.saved_ns = what_if_.real_ns - without;
    return slow;
  }

  void MarkHosts() {
    std::map<std::string, std::pair<size_t, size_t>> counts;  // workers, slow ones
    for (const std::string& host : hosts_) ++counts[host].first;
    if (counts.size() < 2) return;
    for (const SlowWorker& each : out_.workers) ++counts[hosts_[each.worker]].second;
    for (const auto& [host, count] : counts) {
      const bool is_slow = count.first > 1 && static_cast<double>(count.second) >=
                                                  kMostOfHost * static_cast<double>(count.first);
      if (is_slow) out_.hosts.push_back(host);
    }
    for (SlowWorker& each : out_.workers)
      each.with_host =
          std::find(out_.hosts.begin(), out_.hosts.end(), hosts_[each.worker]) != out_.hosts.end();
  }

  void FindStage() {
    if (schedule_.stages < 2) return;
    const auto slowest = std::max_element(
        what_if_.stages.begin(), what_if_.stages.end(),
        [](const GroupEffect& a, const GroupEffect& b) { return a.slowdown < b.slowdown; });
    if (slowest->slowdown < kLeastSlowdown ||
        what_if_.PartOf(*slowest->without_ns) < kLeastStagePart)
      return;
    SlowStage stage;
    stage.stage = static_cast<uint32_t>(slowest - what_if_.stages.begin());
    stage.saved_ns = what_if_.real_ns - *slowest->without_ns;
    // The type that exceeds that of the other stages most.
    struct Sums {
      double own = 0, others = 0;
    };
    std::map<uint32_t, Sums> sums;
    for (size_t i = 0; i < schedule_.operations.size(); ++i) {
      const PlannedOperation& operation = schedule_.operations[i];
      if (operation.group != kNoPeers) continue;
      const double took =
          std::accumulate(schedule_.durations[i].begin(), schedule_.durations[i].end(), 0.0);
      Sums& sum = sums[operation.type];
      (operation.stage == stage.stage ? sum.own : sum.others) += took;
    }
    double most = 0;
    for (const auto& [type, sum] : sums) {
      const double others = sum.others / static_cast<double>(schedule_.stages - 1);
      if (sum.own - others <= most || others <= 0) continue;
      most = sum.own - others;
      stage.type = type;
      stage.factor = sum.own / others;
    }
    if (most > 0) out_.stage = stage;
  }

  const Schedule& schedule_;
  const Simulation& simulation_;
  const WhatIf& what_if_;
  const std::vector<std::string>& hosts_;
  std::map<uint32_t, std::vector<TypeTimes>> times_;  // by stage
  StragglerFindings out_;
};

}  // namespace

StragglerFindings FindStragglers(const Schedule& schedule, const Simulation& simulation,
                                 const WhatIf& what_if, const std::vector<std::string>& hosts) {
  return StragglerFinder(schedule, simulation, what_if, hosts).Find();
}

std::vector<std::optional<StepCulprit>> FindCulprits(const Schedule& schedule,
                                                     const Simulation& simulation) {
  std::vector<std::optional<StepCulprit>> culprits;
  for (const std::vector<OperationOnPath>& path : simulation.Paths()) {
    std::map<std::pair<uint32_t, uint32_t>, StepCulprit> sums;
    for (const OperationOnPath& piece : path) {
      const PlannedOperation& operation = schedule.operations[piece.operation];
      const auto stages = static_cast<uint32_t>(schedule.stages);
      const uint32_t worker = piece.replica * stages + operation.stage;
      StepCulprit& sum = sums[{worker, operation.type}];
      sum.worker = worker;
      sum.type = operation.type;
      sum.ns += piece.ns;
      sum.extra_ns += piece.ns - simulation.ideal(operation.like);
    }
    std::optional<StepCulprit>& culprit = culprits.emplace_back();
    for (const auto& [key, sum] : sums)
      if (sum.extra_ns > (culprit ? culprit->extra_ns : 0)) culprit = sum;
  }
  return culprits;
}

}  // namespace gpuprof::analysis
