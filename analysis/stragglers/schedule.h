// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The operations of a job as arrays: what each replica does in each step, in which order, and with
// whom. A replica is a data-parallel copy of the model. Its stages are those of a pipeline. A
// worker is one stage of one replica: a rank. All replicas and steps share one plan.
//
// Plain data. Times are nanoseconds.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::analysis {

inline constexpr uint32_t kNoPeers = 0xffffffff;

// An operation of the plan. Each replica does it once in each step.
struct PlannedOperation {
  uint32_t type = 0;  // index in Schedule::types
  uint32_t like = 0;  // operations with one number are alike: they would ideally take one time
  uint32_t stage = 0;
  // Index in Schedule::groups; kNoPeers: it computes alone.
  uint32_t group = kNoPeers;
  bool is_transfer = false;     // the ideal of transfers is their median: few are very long
  std::vector<uint32_t> after;  // operations that end before it begins; none: it begins a step
};

// Operations that begin together: when the last of them has begun, data moves.
struct PeerGroup {
  std::vector<uint32_t> members;
  bool spans_replicas = false;  // the members of all replicas are peers
};

struct Schedule {
  std::vector<std::string> types;
  std::vector<PlannedOperation> operations;
  std::vector<PeerGroup> groups;
  size_t replicas = 0, stages = 1;
  std::vector<uint64_t> steps;  // their numbers
  // A worker begins a step when it has ended the step before. Otherwise all begin together.
  bool is_chained = false;
  // By operation, then [step * replicas + replica]. A transfer counts from the begin of the last
  // peer on. So no time is a wait for peers.
  std::vector<std::vector<double>> durations;
  // The same for the time between the end of the operations before it and its begin. Empty: none.
  std::vector<std::vector<double>> delays;
  std::vector<double> observed_ns;  // by step: how long it took

  size_t lanes() const { return steps.size() * replicas; }
  size_t workers() const { return replicas * stages; }
};

// Returns the plan's operations and groups, each behind all that must end before. An operation is
// its index, and a group its index with kGroupBit. Empty: operations wait for each other in a
// circle.
inline constexpr uint32_t kGroupBit = 0x80000000;
std::vector<uint32_t> OrderOf(const Schedule& schedule);

}  // namespace gpuprof::analysis
