// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table `GraphNodes` of the trace: which node was cloned from which, what graphs there are, and
// which of those that were launched are older than the recording.
//
// One thread at a time (the drain's pass). Bounded: what does not fit is counted.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/tables.h"
#include "tracer/cupti/graph_events.h"

namespace gpuprof::tracer::cupti {

// Numbers that were seen. Open addressing; 0 is none.
class IdSet {
 public:
  explicit IdSet(uint32_t most) : most_(most) {}
  // False: full.
  bool Add(uint64_t id);
  bool Has(uint64_t id) const;

 private:
  size_t Place(uint64_t id) const;

  std::vector<uint64_t> slots_;
  uint32_t count_ = 0;
  uint32_t most_;
};

class GraphTable {
 public:
  static constexpr uint32_t kMostNodes = 1u << 18;
  static constexpr uint32_t kMostGraphs = 1u << 16;

  // Empties the queue. Before records are looked at that were made later than what is in it.
  void Consume(GraphEvents* events);
  // A node of this graph ran.
  void SawNode(uint32_t graph, uint64_t node) {
    if (graph != last_graph_) Judge(graph, node);
  }

  // Appends what is new since the last call, without the message's beginning; returns how many
  // entries. `events`: what may hold the making of a graph whose nodes ran already.
  uint32_t Take(const GraphEvents& events, std::vector<uint8_t>* out);
  // Entries that wait for Take.
  size_t waiting() const { return nodes_.size() + graphs_.size() + unknown_.size(); }
  // Nobody will see the end of what threads are making.
  void GiveUpMaking();

  uint64_t refused() const { return refused_; }

 private:
  struct Node {
    uint64_t node, source;
    uint32_t graph, source_graph, type;
    uint64_t ticks;
    int32_t tid;
  };
  struct Graph {
    uint32_t graph, source;
    bool executable, before_capture;
  };
  // An executable graph that a thread is making: what is cloned meanwhile is its own.
  struct Making {
    uint64_t thread;
    std::vector<Node> nodes;
  };
  struct Unknown {
    uint32_t graph;
    uint64_t node;
  };

  void AddEvent(const GraphEvent& event);
  void AddNode(const GraphEvent& event);
  void AddExecutable(const GraphEvent& event);
  Making* MakingOf(uint64_t thread);
  void Judge(uint32_t graph, uint64_t node);
  bool IsKnown(const Unknown& unknown) const {
    return known_graphs_.Has(unknown.graph) || known_nodes_.Has(unknown.node);
  }
  void PutNodes(codec::PbWriter* writer) const;

  std::vector<Node> nodes_;
  std::vector<Graph> graphs_;
  std::vector<Making> making_;
  std::vector<Unknown> unknown_;  // ran, and nothing was seen of how they were made
  IdSet known_nodes_{kMostNodes};
  IdSet known_graphs_{kMostGraphs};  // executable ones
  IdSet judged_{kMostGraphs};
  uint32_t last_graph_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace gpuprof::tracer::cupti
