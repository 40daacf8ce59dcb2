// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What each call of the host and each piece of device work had to wait for. The graph can be played
// again with some categories of time left out: what would the program take without them?
//
// A call begins when the thread comes to the call, after its call before. A thread that was in no
// operation since then waits for the thread that makes the steps. This thread waits for autograd's
// threads in backward().
//
// Work waits for its launch and for the work before it on its stream. It also waits for the
// recordings of CUDA events that its stream waits for. Some files have no events. There, work that
// was ready for long waits for the work of another stream that ended last before it. A call that
// waits for the device ends with the awaited work.
//
// The time between the last of these and the begin is the time of the edge. Played again unchanged,
// the graph gives each begin and end as recorded.
//
// Limits: the graph is of one process. Dependencies between threads of the host are not recorded,
// so the rule above is a guess. Work without a recorded launch only depends on its stream.
//
// Made for one process; one thread. The process, its calls and operations must outlive it.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_timeline.h"
#include "analysis/derived/event_records.h"
#include "analysis/derived/host_activity.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/model/trace.h"
#include "analysis/steps/op_tree.h"

namespace gpuprof::analysis {

inline constexpr uint32_t kNoNode = 0xffffffff;

// A part of an edge's or a node's time.
struct TimePart {
  results::TimeCategory category;
  int64_t ns;
};

struct DependencyEdge {
  uint32_t from = kNoNode;     // kNoNode: the begin of all
  bool is_from_start = false;  // else from the end
  uint32_t first_part = 0, parts = 0;
};

struct DependencyNode {
  enum class Kind : uint8_t { kCall, kWork, kWaited };  // kWaited: the end of a call that waits
  Interval span;
  int64_t awaited_ns = 0;  // of kWaited: when the work ended that it waited for
  uint32_t track = 0;      // of the call, or of the stream
  uint32_t row = 0;
  uint32_t first_edge = 0, edges = 0;
  results::TimeCategory category = results::TIME_CATEGORY_NONE;  // of its own time
  Kind kind = Kind::kCall;
  DeviceWorkKind work = DeviceWorkKind::kKernel;
  // For kWaited: the call went on with its own work, and ended while the work ended.
  bool is_of_own_work = false;
};
static_assert(sizeof(DependencyNode) == 48, "millions of them");

// Begins and ends of all nodes, as they were or as they would be.
struct PlayedGraph {
  std::vector<Interval> spans;
  std::vector<uint32_t> binding;  // by node: the edge that it waited for last; kNoNode: none
};

// Nodes that take no time when the graph is played, by node. Empty: none.
struct FreeNodes {
  std::vector<bool> own;     // a free call does not wait for the device, either
  std::vector<bool> before;  // the time of the edges that lead to the node
  // A part of their own time remains: 0.25 for kernels that become four times as fast.
  double remains = 0;
};

class DependencyGraph {
 public:
  // Categories that take no time when the graph is played.
  using Free = std::array<bool, kTimeCategories>;

  // Takes as `main_track` the thread that makes the steps.
  DependencyGraph(const Process& process, uint32_t main_track, const CallIndex& calls,
                  ProcessOps* ops, KernelClasses* classes, HostActivity* host);

  const std::vector<DependencyNode>& nodes() const { return nodes_; }
  const std::vector<DependencyEdge>& edges() const { return edges_; }
  const std::vector<TimePart>& parts() const { return parts_; }

  // Finds the first work of a stream that begins at a moment. kNoNode: none.
  uint32_t FindWork(uint32_t track, int64_t start_ns) const;

  PlayedGraph Play(const Free& free, const FreeNodes& nodes = {}) const;
  // Returns the categories that take time in the graph. Leaving out others changes nothing.
  Free Present() const;

 private:
  friend class GraphMaker;

  std::vector<DependencyNode>
      nodes_;  // by begin: an edge leads from an earlier node to a later node
  std::vector<DependencyEdge> edges_;
  std::vector<TimePart> parts_;
};

// A piece of the critical path: what the end of the path waited for at each moment.
struct PathPiece {
  Interval span;
  results::TimeCategory category = results::TIME_CATEGORY_NONE;
  uint32_t node = kNoNode;  // whose own time it is; kNoNode: the time of an edge
  uint32_t to = kNoNode;    // of an edge: the node that it leads to; kNoNode: nothing is known
};

// Walks back from the begin or the end of a node, until `from_ns`. Returns the pieces by time; they
// cover the time without a gap.
std::vector<PathPiece> CriticalPath(const DependencyGraph& graph, uint32_t node, bool from_end,
                                    int64_t from_ns);

}  // namespace gpuprof::analysis
