// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See simulation.h.

#include "analysis/stragglers/simulation.h"

#include <algorithm>
#include <numeric>

namespace gpuprof::analysis {

// Some steps that are played together: a lane is a replica in one of them.
struct Simulation::Block {
  const std::vector<uint32_t>* replicas = nullptr;  // of a step's lanes
  bool is_whole = false;                            // the lanes are all replicas, in their order
  size_t first_step = 0, steps = 0;
  std::vector<std::vector<double>> ends;   // by operation and lane
  std::vector<std::vector<double>> begin;  // by stage and lane: when the worker may begin
  std::vector<double> durations, last;     // by lane

  size_t width() const { return replicas->size(); }
  size_t lanes() const { return steps * width(); }
};

Simulation::Simulation(const Schedule& schedule) : schedule_(schedule), order_(OrderOf(schedule)) {
  FindIdeals();
}

void Simulation::FindIdeals() {
  uint32_t likes = 0;
  for (const PlannedOperation& each : schedule_.operations) likes = std::max(likes, each.like + 1);
  std::vector<double> sums(likes, 0), counts(likes, 0);
  std::vector<std::vector<double>> transfers(likes);
  for (size_t i = 0; i < schedule_.operations.size(); ++i) {
    const PlannedOperation& operation = schedule_.operations[i];
    const std::vector<double>& took = schedule_.durations[i];
    if (operation.is_transfer) {
      std::vector<double>& all = transfers[operation.like];
      all.insert(all.end(), took.begin(), took.end());
    } else {
      sums[operation.like] = std::accumulate(took.begin(), took.end(), sums[operation.like]);
      counts[operation.like] += static_cast<double>(took.size());
    }
  }
  ideals_.assign(likes, 0);
  for (uint32_t like = 0; like < likes; ++like) {
    std::vector<double>& all = transfers[like];
    if (all.empty()) {
      if (counts[like] != 0) ideals_[like] = sums[like] / counts[like];
      continue;
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    ideals_[like] = *middle;
    if (all.size() % 2 == 0) ideals_[like] = (*middle + *std::max_element(all.begin(), middle)) / 2;
  }
}

void Simulation::Load(const Choice& choice, uint32_t operation, Block* block) const {
  const int32_t exception =
      choice.exceptions.empty() ? Choice::kNone : choice.exceptions[operation];
  const bool is_real = choice.is_real != (exception == Choice::kAll);
  const double ideal = ideals_[schedule_.operations[operation].like];
  const double* const real =
      schedule_.durations[operation].data() + block->first_step * schedule_.replicas;
  const size_t width = block->width();
  std::vector<double>& out = block->durations;
  if (!is_real) {
    std::fill_n(out.begin(), block->lanes(), ideal);
  } else if (block->is_whole) {
    std::copy_n(real, block->lanes(), out.begin());
  } else {
    for (size_t lane = 0; lane < block->lanes(); ++lane) {
      const uint32_t replica = (*block->replicas)[lane % width];
      out[lane] = replica == kIdealLane ? ideal : real[lane / width * schedule_.replicas + replica];
    }
  }
  if (exception < 0) return;
  for (const uint32_t replica : choice.replicas[static_cast<size_t>(exception)]) {
    for (size_t step = 0; step < block->steps; ++step)
      out[step * width + replica] = is_real ? ideal : real[step * schedule_.replicas + replica];
  }
}

void Simulation::FindStart(const Choice& choice, uint32_t operation, double* start,
                           const Block& block) const {
  const PlannedOperation& planned = schedule_.operations[operation];
  const size_t lanes = block.lanes();
  if (planned.after.empty()) {
    std::copy_n(block.begin[planned.stage].begin(), lanes, start);
  } else {
    std::copy_n(block.ends[planned.after[0]].begin(), lanes, start);
    for (size_t i = 1; i < planned.after.size(); ++i) {
      const double* const end = block.ends[planned.after[i]].data();
      for (size_t lane = 0; lane < lanes; ++lane)
        start[lane] = start[lane] < end[lane] ? end[lane] : start[lane];
    }
  }
  if (!choice.with_delays || schedule_.delays.empty()) return;
  const double* const delay =
      schedule_.delays[operation].data() + block.first_step * schedule_.replicas;
  for (size_t lane = 0; lane < lanes; ++lane) start[lane] += delay[lane];
}

void Simulation::PlayGroup(const Choice& choice, const PeerGroup& group, Block* block) const {
  const size_t lanes = block->lanes(), width = block->width();
  std::vector<double>& last = block->last;
  std::vector<double>& start = block->durations;  // not needed yet
  FindStart(choice, group.members[0], last.data(), *block);
  for (size_t i = 1; i < group.members.size(); ++i) {
    FindStart(choice, group.members[i], start.data(), *block);
    for (size_t lane = 0; lane < lanes; ++lane)
      last[lane] = last[lane] < start[lane] ? start[lane] : last[lane];
  }
  if (group.spans_replicas) {
    for (size_t step = 0; step < block->steps; ++step) {
      const auto from = last.begin() + static_cast<std::ptrdiff_t>(step * width);
      const auto to = from + static_cast<std::ptrdiff_t>(width);
      std::fill(from, to, *std::max_element(from, to));
    }
  }
  for (const uint32_t member : group.members) {
    Load(choice, member, block);
    double* const end = block->ends[member].data();
    const double* const took = block->durations.data();
    for (size_t lane = 0; lane < lanes; ++lane) end[lane] = last[lane] + took[lane];
  }
}

void Simulation::Trace(const Choice& choice, Block* block,
                       std::vector<OperationOnPath>* path) const {
  uint32_t operation = 0;
  size_t lane = 0;
  for (uint32_t i = 0; i < schedule_.operations.size(); ++i) {
    for (size_t at = 0; at < block->lanes(); ++at)
      if (block->ends[i][at] > block->ends[operation][lane]) operation = i, lane = at;
  }
  std::vector<double> start(block->lanes());
  while (true) {
    const PlannedOperation& planned = schedule_.operations[operation];
    Load(choice, operation, block);
    path->push_back(
        {operation, static_cast<uint32_t>((*block->replicas)[lane]), block->durations[lane]});
    if (planned.group != kNoPeers) {
      // The peer that began last.
      const PeerGroup& group = schedule_.groups[planned.group];
      const size_t own = lane;
      double latest = -1;
      for (const uint32_t member : group.members) {
        FindStart(choice, member, start.data(), *block);
        for (size_t at = 0; at < block->lanes(); ++at) {
          if ((!group.spans_replicas && at != own) || start[at] <= latest) continue;
          latest = start[at];
          operation = member;
          lane = at;
        }
      }
    }
    const std::vector<uint32_t>& after = schedule_.operations[operation].after;
    if (after.empty()) return;
    operation = *std::max_element(after.begin(), after.end(), [&](uint32_t a, uint32_t b) {
      return block->ends[a][lane] < block->ends[b][lane];
    });
  }
}

std::vector<double> Simulation::PlayLanes(const Choice& choice, const std::vector<uint32_t>& lanes,
                                          std::vector<std::vector<OperationOnPath>>* paths) const {
  constexpr size_t kLanes = 4096;  // about as many fit into a processor's cache
  Block block;
  block.replicas = &lanes;
  block.is_whole = lanes.size() == schedule_.replicas && lanes.back() != kIdealLane;
  const bool is_single = schedule_.is_chained || paths != nullptr;
  const size_t most = is_single ? 1 : std::max<size_t>(1, kLanes / lanes.size());
  block.ends.assign(schedule_.operations.size(), std::vector<double>(most * lanes.size()));
  block.begin.assign(schedule_.stages, std::vector<double>(most * lanes.size(), 0));
  block.durations.resize(most * lanes.size());
  block.last.resize(most * lanes.size());
  std::vector<double> lengths(schedule_.steps.size());
  double before = 0;  // when the last step ended
  for (size_t step = 0; step < lengths.size(); step += block.steps) {
    block.first_step = step;
    block.steps = std::min(most, lengths.size() - step);
    for (const uint32_t unit : order_) {
      if ((unit & kGroupBit) != 0) {
        PlayGroup(choice, schedule_.groups[unit & ~kGroupBit], &block);
        continue;
      }
      double* const end = block.ends[unit].data();
      FindStart(choice, unit, end, block);
      Load(choice, unit, &block);
      for (size_t lane = 0; lane < block.lanes(); ++lane) end[lane] += block.durations[lane];
    }
    for (size_t i = 0; i < block.steps; ++i) {
      double last = 0;
      for (const std::vector<double>& ends : block.ends) {
        const auto from = ends.begin() + static_cast<std::ptrdiff_t>(i * lanes.size());
        last = std::max(last,
                        *std::max_element(from, from + static_cast<std::ptrdiff_t>(lanes.size())));
      }
      lengths[step + i] = last - before;
      if (schedule_.is_chained) before = last;
    }
    if (paths != nullptr) Trace(choice, &block, &(*paths)[step]);
    if (!schedule_.is_chained) continue;
    for (std::vector<double>& begin : block.begin) std::fill(begin.begin(), begin.end(), 0);
    for (size_t i = 0; i < block.ends.size(); ++i) {
      std::vector<double>& begin = block.begin[schedule_.operations[i].stage];
      for (size_t lane = 0; lane < lanes.size(); ++lane)
        begin[lane] = std::max(begin[lane], block.ends[i][lane]);
    }
  }
  return lengths;
}

std::vector<double> Simulation::Play(const Choice& choice) const {
  std::vector<uint32_t> lanes(schedule_.replicas);
  std::iota(lanes.begin(), lanes.end(), 0);
  return PlayLanes(choice, lanes, nullptr);
}

std::vector<double> Simulation::PlayReplica(uint32_t replica) const {
  Choice choice;
  choice.is_real = true;
  std::vector<uint32_t> lanes = {replica};
  if (schedule_.replicas > 1) lanes.push_back(kIdealLane);
  return PlayLanes(choice, lanes, nullptr);
}

std::vector<std::vector<OperationOnPath>> Simulation::Paths() const {
  std::vector<std::vector<OperationOnPath>> paths(schedule_.steps.size());
  std::vector<uint32_t> lanes(schedule_.replicas);
  std::iota(lanes.begin(), lanes.end(), 0);
  Choice choice;
  choice.is_real = true;
  PlayLanes(choice, lanes, &paths);
  return paths;
}

}  // namespace gpuprof::analysis
