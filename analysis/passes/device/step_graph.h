// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The dependency graph of a process with its window: two neighbouring steps of typical length, or
// the whole recording. Tells how much shorter a step would be without some of its time. For the
// passes `critical_path` and `advise`; one thread. The context must outlive it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/derived/dependency_graph.h"
#include "analysis/passes/context.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

class StepGraph {
 public:
  // Returns the graph of a process. Null: it had no work on a device, or too much.
  static std::unique_ptr<StepGraph> Make(PassContext& context, size_t index);

  const DependencyGraph& graph() const { return *graph_; }
  // Returns the window: from the begin of one node to the begin or the end of another.
  uint32_t last_node() const { return last_; }
  bool is_to_end() const { return is_to_end_; }
  int64_t start_ns() const { return graph_->nodes()[first_].span.start; }
  int64_t length_ns() const { return length_ns_; }
  // Returns the times of the window's periods before its first node and behind its last. A step
  // that overlaps no other step begins with them.
  const DeviceTimes& outside() const { return outside_; }
  // Returns the steps of the window. None: no steps were found, and it is the whole recording.
  std::optional<uint64_t> first_step() const { return first_step_; }
  std::optional<uint64_t> last_step() const { return last_step_; }
  // Returns the length of the typical step, which chose the window. None: as above.
  std::optional<int64_t> typical_ns() const { return typical_ns_; }

  // Returns the length of the window if some time were left out.
  int64_t LengthWithout(const DependencyGraph::Free& free, const FreeNodes& nodes = {}) const;
  // Returns what is saved outside of the window's nodes without some time.
  int64_t SavedOutside(const DependencyGraph::Free& free) const;
  // Returns what a step would save, or the recording without steps. Never more than its length.
  int64_t SavedPerStep(const FreeNodes& nodes) const;
  int64_t SavedPerStep(const DependencyGraph::Free& free) const;

  // Marks a piece of work as free, and with it the call that launched the work.
  void FreeWork(uint32_t node, FreeNodes* nodes) const;
  // Marks as free what a launch costs, and not the work: the call, the host's time before the call,
  // and the way to the device.
  void FreeLaunch(uint32_t node, FreeNodes* nodes) const;
  // Marks a call as free, by the track and the row of the call.
  void FreeCall(uint32_t track, uint32_t row, FreeNodes* nodes) const;
  // Returns the id of the call that launched a piece of work. 0: not known.
  uint32_t CorrelationOf(const DependencyNode& work) const;
  // Makes the nodes of a graph that nothing is free of.
  FreeNodes NoneFree() const;

 private:
  StepGraph(PassContext& context, size_t index);
  // Calls visit(node) for the nodes of a call.
  template <typename Visit>
  void ForEachNodeOfCall(uint32_t track, uint32_t row, Visit&& visit) const;
  void FindWindow(PassContext& context, size_t index, const results::Steps& steps);
  void TakeWhole();
  int64_t LengthOf(const PlayedGraph& played) const;
  int64_t OfStep(int64_t length_ns, int64_t outside_ns) const;
  static uint64_t Key(uint32_t track, uint32_t row) { return uint64_t{track} << 32 | row; }

  const Process& process_;
  const CallIndex& calls_;
  std::unique_ptr<DependencyGraph> graph_;
  uint32_t first_ = kNoNode, last_ = kNoNode;
  bool is_to_end_ = false;
  std::optional<uint64_t> first_step_, last_step_;
  std::optional<int64_t> typical_ns_;
  int64_t length_ns_ = 0;
  DeviceTimes outside_{};
  // The nodes of calls by track and row: the second node of a call that waits is behind the first.
  mutable std::vector<std::pair<uint64_t, uint32_t>> call_nodes_;  // sorted
};

}  // namespace gpuprof::analysis
