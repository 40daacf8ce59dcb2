// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sums over framework operations and the device work that they launched, by a key. For the pass
// `ops` and those that show some of its rows. One thread; but other objects may add other processes
// meanwhile.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/execution.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/derived/op_category.h"
#include "analysis/derived/origin.h"
#include "analysis/derived/row_details.h"
#include "analysis/passes/passes.h"
#include "proto/results/ops.pb.h"

namespace gpuprof::analysis {

// Returns rows and sums of operations by name, with medians and without meta.
const results::Ops& OpsByName(PassContext& context);

// Stands for the scope of operations that only the device's work names.
inline constexpr uint8_t kDeviceScope = 255;

class OpGroups {
 public:
  // A process; pids of two hosts may be the same.
  struct Id {
    int32_t pid;
    size_t owner;  // PassContext::Owner
    auto operator<=>(const Id&) const = default;
  };
  struct Place {
    uint64_t count = 0;
    int64_t total_ns = 0;
    int64_t self_ns = 0;
  };
  // By what groups differ.
  struct Key {
    std::string name, shapes, types;
    uint8_t scope = 0;
    Id process = {};
    int32_t tid = 0;
  };
  struct Group : Key {
    Place all;
    int64_t sum_ns = 0, min_ns = 0, max_ns = 0;
    uint64_t incomplete = 0;
    uint64_t step_count = 0;
    int64_t step_self_ns = 0;
    std::vector<std::pair<Id, Place>> places;     // sorted by Take()
    std::vector<std::pair<Id, int32_t>> threads;  // likewise; each once
    std::vector<int64_t> durations;
    int64_t device_ns = 0;       // of work launched within
    int64_t device_self_ns = 0;  // of work launched by the spans themselves
    uint64_t device_count = 0;   // likewise
    ExecutionTally execution;
    ExecutionTally of_operations;  // without what kernels tell if the operations tell nothing
    FamilyTimes families;          // of its kernels
  };

  OpGroups(PassContext& context, OpGrouping grouping) : context_(context), grouping_(grouping) {}

  // Adds a process. context.steps() must know its steps if other threads add others meanwhile.
  void AddProcess(size_t index);
  // Adds the sums over processes that come behind those of this object.
  void Add(OpGroups other);

  // Returns the groups, with their places and threads in order.
  std::vector<Group> Take();
  int64_t step_ns() const { return step_ns_; }
  uint64_t step_count() const { return step_count_; }
  bool has_device_work() const { return has_device_work_; }
  int64_t device_ns() const { return device_ns_; }
  int64_t device_outside_ns() const { return device_outside_ns_; }
  const std::string& HostOf(Id id) const { return context_.process(id.owner).host; }

 private:
  uint32_t NumberOf(Key key);
  uint32_t GroupOf(const Process& process, const Track& track, uint32_t id, uint8_t scope,
                   uint32_t detail);
  // Returns the group of an operation by category. `parent`: category of the operation around it.
  uint32_t GroupOfCategory(const Process& process, const OpTable& table, uint32_t row,
                           OpCategory parent, OpCategory* category);
  void AddTrack(size_t index, size_t track_index, const std::vector<Interval>& steps);
  void AddPlaces(int32_t tid);
  void AddDeviceWork(size_t index);
  uint32_t GroupOfDeviceWork(const Process& process, const Track& track, const DeviceWork& work);
  void AddLaunched(const OpTree& tree, const std::vector<uint32_t>& group_of_row,
                   std::vector<int64_t>* launched_ns);

  PassContext& context_;
  OpGrouping grouping_;
  Id id_ = {};  // of the process that is being added
  RowDetails* details_ = nullptr;
  ExecutionFinder* executions_ = nullptr;
  const Track* track_ = nullptr;
  std::vector<Group> groups_;
  std::unordered_map<std::string, uint32_t> group_of_key_;  // by its bytes
  std::unordered_map<uint32_t, std::unordered_map<uint64_t, uint32_t>> group_of_detail_;
  std::unordered_map<uint64_t, uint32_t> group_of_id_;  // without a detail
  std::unordered_map<uint64_t, OpCategory> category_of_id_;
  std::map<OpCategory, uint32_t> group_of_category_;
  std::unordered_map<uint64_t, uint32_t> group_of_work_;  // by signature and detail
  std::vector<std::vector<uint32_t>> group_of_row_;  // by track, of the process that is being added
  // By group, of the track that is being added. A track may have few of a million groups: what was
  // used is cleared, and not all.
  std::vector<Place> places_;
  std::vector<uint32_t> of_track_;  // groups with a place
  std::vector<uint32_t> open_;      // how many rows of a group are open
  int64_t step_ns_ = 0;
  uint64_t step_count_ = 0;
  bool has_device_work_ = false;
  int64_t device_ns_ = 0, device_outside_ns_ = 0;
};

}  // namespace gpuprof::analysis
