// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The CUDA graphs of a process's recording. It holds which node was cloned from which, and which
// graph was made from which. It also holds when launches were recorded by their nodes and when as
// wholes. Numbers are CUPTI's; executable graphs and other graphs share one numbering.

#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "proto/contract.h"

namespace gpuprof::analysis {

struct GraphNode {
  uint64_t source = 0;  // the node it was cloned from; 0: of none
  uint32_t graph = 0;
  uint32_t source_graph = 0;
  uint32_t type = 0;  // CUgraphNodeType
  // When the program made the node itself, and by which thread. 0: not known, or the node is a
  // clone.
  int64_t made_ns = 0;
  int32_t made_by = 0;
};

struct MadeGraph {
  uint32_t source = 0;  // 0: of none, or not known
  bool executable = false;
  bool before_capture = false;  // nothing was seen of its making
};

struct GraphModeMark {
  uint32_t capture = 0;
  int64_t time_ns = 0;
  proto::GraphMode mode = proto::GraphMode::kNode;
  uint64_t nodes = 0;  // that the capture held, where that was the reason
};

struct Graphs {
  std::unordered_map<uint64_t, GraphNode> nodes;
  std::map<uint32_t, MadeGraph> made;
  std::vector<GraphModeMark> marks;  // by time

  // Returns the node at the end of the chain of clones, or the node itself if no chain is known.
  uint64_t RootOf(uint64_t node) const;
  // Returns the original graph that the executable graph was made from; 0: not known.
  uint32_t SourceOf(uint32_t graph) const;
};

}  // namespace gpuprof::analysis
