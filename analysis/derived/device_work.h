// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// All work that takes a device's time, in one iteration: kernels, copies, memsets, and graphs that
// were recorded as a whole. Pure, any thread.

#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

enum class DeviceWorkKind : uint8_t { kKernel, kCopy, kSet, kGraph };
inline constexpr size_t kDeviceWorkKinds = 4;

struct DeviceWork {
  DeviceWorkKind kind;
  size_t row;  // in the table of its kind
  Interval span;
  uint32_t correlation;     // of the call that launched it; 0: not known
  uint32_t weight;          // how many pieces of work the row stands for
  uint64_t external;        // the source's id of the operation that caused it; 0: none
  bool in_graph = false;    // a node of a CUDA graph
  uint64_t graph_node = 0;  // the node in CUPTI's numbers; 0: not known
};

// Returns the id that the source gives for a row's operation. 0: the row has no id.
template <typename Table>
uint64_t ExternalOf(const Table& table, size_t row) {
  if constexpr (requires { table.external; }) {
    return row < table.external.size() ? table.external[row] : 0;
  } else {
    return 0;
  }
}

// Returns whether the row is a node of a graph. A graph that was recorded as a whole is not a node.
template <typename Table>
bool IsInGraph(const Table& table, size_t row) {
  if constexpr (requires { table.graph_node; }) {
    return table.graph[row] != 0;
  } else {
    return false;
  }
}
template <typename Table>
uint64_t GraphNodeOf(const Table& table, size_t row) {
  if constexpr (requires { table.graph_node; }) {
    return table.graph_node[row];
  } else {
    return 0;
  }
}

// Reads the same for many rows, one after the other.
template <typename Table>
class RareWorkColumns {
 public:
  explicit RareWorkColumns(const Table& table) {
    if constexpr (requires { table.external; }) {
      external_rows_ = table.external.size();
      external_ = Column<uint64_t>::Reader(table.external);
    }
    if constexpr (requires { table.graph_node; }) {
      graph_ = Column<uint32_t>::Reader(table.graph);
      node_ = Column<uint64_t>::Reader(table.graph_node);
    }
  }
  uint64_t ExternalOf(size_t row) const { return row < external_rows_ ? external_[row] : 0; }
  bool IsInGraph(size_t row) const {
    if constexpr (kHasNodes) return graph_[row] != 0;
    return false;
  }
  uint64_t GraphNodeOf(size_t row) const {
    if constexpr (kHasNodes) return node_[row];
    return 0;
  }

 private:
  static constexpr bool kHasNodes = requires(const Table& table) { table.graph_node; };

  size_t external_rows_ = 0;
  Column<uint64_t>::Reader external_, node_;
  Column<uint32_t>::Reader graph_;
};

template <typename Table, typename Visit>
void ForEachRowOfWork(DeviceWorkKind kind, const Table& table, Visit&& visit) {
  const Column<int64_t>::Reader ends(table.end_ns), durations(table.duration_ns);
  const Column<uint32_t>::Reader correlations(table.correlation), weights(table.weight);
  const RareWorkColumns<Table> rare(table);
  for (size_t i = 0; i < table.rows(); ++i) {
    const int64_t end = ends[i];
    visit(DeviceWork{kind,
                     i,
                     {end - durations[i], end},
                     correlations[i],
                     weights[i],
                     rare.ExternalOf(i),
                     rare.IsInGraph(i),
                     rare.GraphNodeOf(i)});
  }
}

// Calls visit(work) for all work of a track: kernels first, then copies, memsets and graphs.
template <typename Visit>
void ForEachDeviceWork(const Track& track, Visit&& visit) {
  ForEachRowOfWork(DeviceWorkKind::kKernel, track.kernel, visit);
  ForEachRowOfWork(DeviceWorkKind::kCopy, track.memcpy, visit);
  ForEachRowOfWork(DeviceWorkKind::kSet, track.memset, visit);
  ForEachRowOfWork(DeviceWorkKind::kGraph, track.graph_launch, visit);
}

// Calls visit(track, work) for all work of a process, track by track.
template <typename Visit>
void ForEachDeviceWork(const Process& process, Visit&& visit) {
  for (const Track& track : process.tracks)
    ForEachDeviceWork(track, [&](const DeviceWork& work) { visit(track, work); });
}

}  // namespace gpuprof::analysis
