// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See what_if.h.

#include "analysis/stragglers/what_if.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpuprof::analysis {
namespace {

// Workers that M_W is about: so many percent, at least one.
constexpr size_t kSlowestPercent = 3;
// Workers whose own gain is computed.
constexpr size_t kMostGains = 16;

double SumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Returns a choice in which operations that `is_member` accepts are the exception in all replicas.
template <typename IsMember>
Choice ChoiceOf(const Schedule& schedule, bool is_real, const IsMember& is_member) {
  Choice choice;
  choice.is_real = is_real;
  choice.exceptions.assign(schedule.operations.size(), Choice::kNone);
  for (size_t i = 0; i < schedule.operations.size(); ++i)
    if (is_member(schedule.operations[i])) choice.exceptions[i] = Choice::kAll;
  return choice;
}

void AskTypesAndStages(const Schedule& schedule, const Simulation& simulation, WhatIf* out) {
  for (uint32_t type = 0; type < schedule.types.size(); ++type) {
    const auto is_member = [type](const PlannedOperation& each) { return each.type == type; };
    GroupEffect& effect = out->types.emplace_back();
    effect.slowdown = SumOf(simulation.Play(ChoiceOf(schedule, false, is_member))) / out->ideal_ns;
    effect.without_ns = SumOf(simulation.Play(ChoiceOf(schedule, true, is_member)));
  }
  for (uint32_t stage = 0; stage < schedule.stages; ++stage) {
    GroupEffect& effect = out->stages.emplace_back();
    if (schedule.stages == 1) {
      effect.slowdown = out->slowdown;
      effect.without_ns = out->ideal_ns;
      continue;
    }
    const auto is_member = [stage](const PlannedOperation& each) { return each.stage == stage; };
    effect.slowdown = SumOf(simulation.Play(ChoiceOf(schedule, false, is_member))) / out->ideal_ns;
    effect.without_ns = SumOf(simulation.Play(ChoiceOf(schedule, true, is_member)));
  }
  if (schedule.stages > 1) out->stage_part = out->PartOf(*out->stages.back().without_ns);
}

void AskWorkers(const Schedule& schedule, const Simulation& simulation, WhatIf* out) {
  for (uint32_t replica = 0; replica < schedule.replicas; ++replica) {
    const double slowdown = SumOf(simulation.PlayReplica(replica)) / out->ideal_ns;
    for (uint32_t stage = 0; stage < schedule.stages; ++stage) {
      WorkerEffect& worker = out->workers.emplace_back();
      worker.replica = replica;
      worker.stage = stage;
      worker.slowdown = std::min(slowdown, out->stages[stage].slowdown);
    }
  }
  std::vector<uint32_t> order(out->workers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return out->workers[a].slowdown > out->workers[b].slowdown;
  });
  for (size_t i = 0; i < order.size() && i < kMostGains; ++i)
    out->workers[order[i]].without_ns = TimeWithout(schedule, simulation, {order[i]});
  order.resize((order.size() * kSlowestPercent + 99) / 100);
  out->slowest = std::move(order);
  out->worker_part = out->PartOf(TimeWithout(schedule, simulation, out->slowest));
}

}  // namespace

double WhatIf::Error() const {
  return observed_ns > 0 ? std::abs(played_ns - observed_ns) / observed_ns : 0;
}

double TimeWithout(const Schedule& schedule, const Simulation& simulation,
                   const std::vector<uint32_t>& workers) {
  Choice choice;
  choice.is_real = true;
  choice.exceptions.assign(schedule.operations.size(), Choice::kNone);
  choice.replicas.resize(schedule.stages);
  for (const uint32_t worker : workers) {
    const auto stages = static_cast<uint32_t>(schedule.stages);
    choice.replicas[worker % stages].push_back(worker / stages);
  }
  for (size_t i = 0; i < schedule.operations.size(); ++i) {
    const uint32_t stage = schedule.operations[i].stage;
    if (!choice.replicas[stage].empty()) choice.exceptions[i] = static_cast<int32_t>(stage);
  }
  return SumOf(simulation.Play(choice));
}

WhatIf AskWhatIf(const Schedule& schedule, const Simulation& simulation) {
  WhatIf out;
  Choice choice;
  out.ideal_steps = simulation.Play(choice);
  choice.is_real = true;
  out.real_steps = simulation.Play(choice);
  out.real_ns = SumOf(out.real_steps);
  out.ideal_ns = SumOf(out.ideal_steps);
  if (out.ideal_ns <= 0) return out;
  out.slowdown = out.real_ns / out.ideal_ns;
  out.observed_ns = SumOf(schedule.observed_ns);
  choice.with_delays = true;
  out.played_ns = schedule.delays.empty() ? out.real_ns : SumOf(simulation.Play(choice));
  out.has_groups = out.slowdown >= kLeastSlowdown;
  if (!out.has_groups) return out;
  AskTypesAndStages(schedule, simulation, &out);
  AskWorkers(schedule, simulation, &out);
  return out;
}

}  // namespace gpuprof::analysis
