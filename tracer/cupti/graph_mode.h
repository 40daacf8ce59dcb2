// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How launches of graphs are recorded: every node, or each launch as one record
// (CUPTI_ACTIVITY_KIND_GRAPH_TRACE), which costs the program far less and hides what is inside. In
// the automatic mode nodes come first; once a capture holds as many as the settings say, whole
// launches are asked for. Every change leaves a mark for the trace.
//
// Begin, IsDue and Turned: the thread that calls CUPTI. CountNodes and TakeMark: the drain.

#pragma once

#include <atomic>
#include <cstdint>

#include "proto/contract.h"

namespace gpuprof::tracer::cupti {

struct GraphMark {
  uint64_t ticks;
  proto::GraphMode mode;
  uint64_t nodes;  // recorded until then, where that was the reason
};

class GraphModes {
 public:
  // A capture begins, with nodes. In the automatic mode up to `most_nodes` of them.
  void Begin(proto::GraphMode mode, uint64_t most_nodes, uint64_t ticks);
  // Whether whole launches are to be asked for.
  bool IsDue() const;
  // They were asked for at this moment; the answer. Without success it stays at nodes, for good.
  void Turned(bool is_whole, uint64_t ticks);
  bool is_whole() const { return is_whole_; }

  void CountNodes(uint64_t nodes) { nodes_.fetch_add(nodes, std::memory_order_relaxed); }
  bool TakeMark(GraphMark* mark);

 private:
  // More than one capture makes until the drain comes.
  static constexpr uint32_t kMostMarks = 16;

  void Mark(const GraphMark& mark);

  proto::GraphMode mode_ = proto::GraphMode::kNode;
  uint64_t most_nodes_ = 0;
  bool is_whole_ = false;
  bool is_refused_ = false;
  std::atomic<uint64_t> nodes_{0};
  GraphMark marks_[kMostMarks] = {};
  std::atomic<uint32_t> marks_made_{0};
  std::atomic<uint32_t> marks_taken_{0};
};

}  // namespace gpuprof::tracer::cupti
