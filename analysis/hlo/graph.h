// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The graph of a program of XLA around one of its instructions. The program outlives the graph.
// One thread makes it; then any thread. Any program is safe, also one whose operands are circles.

#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/hlo/program.h"

namespace gpuprof::analysis::hlo {

struct GraphNode {
  const Instruction* instruction = nullptr;
  const Computation* computation = nullptr;  // that has it
  const Instruction* fusion = nullptr;       // the instruction that it is a part of; null: of none
  int32_t distance = 0;                      // below 0: it produces; above 0: it consumes
  size_t parent = 0;                         // the node by which it was found; 0: the middle
  // Neighbours that are too far away, or too many.
  uint64_t left_out_producers = 0, left_out_consumers = 0;
};

struct GraphEdge {
  size_t from = 0, to = 0;  // nodes
  int64_t operand = 0;      // the number of the operand that `from` is; below 0: no operand
  bool is_control = false;  // only the order is fixed, no result is read
};

struct Neighborhood {
  // The instruction in the middle comes first. Producers follow, then consumers, each behind the
  // node by which it was found.
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};

class ProgramGraph {
 public:
  explicit ProgramGraph(const Program& program);

  // Returns who produces what the instruction reads, and who consumes its result, up to a distance.
  // Results come into a fused computation by its parameters, and leave by its root. `most`:
  // nodes.
  Neighborhood Around(const Instruction& middle, uint32_t depth, size_t most) const;
  // Returns the fusion that an instruction is a part of. Null: of none.
  const Instruction* FusionOf(const Computation& computation) const;

 private:
  using List = std::vector<const Instruction*>;

  List ProducersOf(const Instruction& instruction) const;
  List ConsumersOf(const Instruction& instruction) const;
  void AddEdges(Neighborhood* found) const;

  const Program& program_;
  std::unordered_map<const Instruction*, List> users_;
  std::unordered_map<const Instruction*, const Computation*> homes_;
  std::unordered_map<const Computation*, List> callers_;
};

}  // namespace gpuprof::analysis::hlo
