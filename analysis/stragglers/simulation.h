// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Plays a schedule with the times that operations took, or with the mean of their like, or with
// some of both. Steps are played in blocks of lanes, so memory does not grow with their number.
//
// Made for one schedule, which must outlive it. Any thread; Play() keeps nothing.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/stragglers/schedule.h"

namespace gpuprof::analysis {

// Which operations take the time that they took, and which the ideal one.
struct Choice {
  bool is_real = false;  // what other operations than the exceptions take
  // By operation: the replicas in which it is an exception. Empty: no operation is one.
  static constexpr int32_t kNone = -1, kAll = -2;
  std::vector<int32_t> exceptions;              // kNone, kAll, or an index of `replicas`
  std::vector<std::vector<uint32_t>> replicas;  // sorted
  bool with_delays = false;
};

// A part of a step for which the step waited.
struct OperationOnPath {
  uint32_t operation = 0;
  uint32_t replica = 0;
  double ns = 0;
};

class Simulation {
 public:
  explicit Simulation(const Schedule& schedule);

  // Returns whether the schedule can be played: nothing waits in a circle.
  bool is_possible() const { return !order_.empty(); }
  // Returns the ideal time of operations of a `like`: the mean of computing, the median of
  // transfers.
  double ideal(uint32_t like) const { return ideals_[like]; }

  // Returns the length of each step.
  std::vector<double> Play(const Choice& choice) const;
  // Plays with the real times of one replica. All others are ideal, so one of them stands for all.
  std::vector<double> PlayReplica(uint32_t replica) const;
  // Returns, by step, the operations one after the other for which the end of the step waited: from
  // the last to the first. All times are real.
  std::vector<std::vector<OperationOnPath>> Paths() const;

 private:
  struct Block;
  static constexpr uint32_t kIdealLane = 0xffffffff;

  void FindIdeals();
  std::vector<double> PlayLanes(const Choice& choice, const std::vector<uint32_t>& lanes,
                                std::vector<std::vector<OperationOnPath>>* paths) const;
  void Load(const Choice& choice, uint32_t operation, Block* block) const;
  void FindStart(const Choice& choice, uint32_t operation, double* start, const Block& block) const;
  void PlayGroup(const Choice& choice, const PeerGroup& group, Block* block) const;
  void Trace(const Choice& choice, Block* block, std::vector<OperationOnPath>* path) const;

  const Schedule& schedule_;
  std::vector<uint32_t> order_;
  std::vector<double> ideals_;  // by like
};

}  // namespace gpuprof::analysis
