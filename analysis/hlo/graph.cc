// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/hlo/graph.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace gpuprof::analysis::hlo {
namespace {

bool TakesOperandsOneByOne(const Instruction& caller) {
  return caller.opcode == "fusion" || caller.opcode == "call";
}

void AddOnce(const Instruction* instruction, std::vector<const Instruction*>* list,
             std::unordered_set<const Instruction*>* seen) {
  if (instruction != nullptr && seen->insert(instruction).second) list->push_back(instruction);
}

// Puts each node behind the one by which it was found. Children keep their order.
std::vector<size_t> OrderOfTree(const std::vector<GraphNode>& nodes, size_t begin, size_t end) {
  std::vector<std::vector<size_t>> children(nodes.size());
  for (size_t i = begin; i < end; ++i) children[nodes[i].parent].push_back(i);
  std::vector<size_t> order, waiting(children[0].rbegin(), children[0].rend());
  while (!waiting.empty()) {
    const size_t node = waiting.back();
    waiting.pop_back();
    order.push_back(node);
    waiting.insert(waiting.end(), children[node].rbegin(), children[node].rend());
  }
  return order;
}

}  // namespace

ProgramGraph::ProgramGraph(const Program& program) : program_(program) {
  for (const Computation& computation : program.computations) {
    for (const Instruction& instruction : computation.instructions) {
      homes_.try_emplace(&instruction, &computation);
      std::unordered_set<const Instruction*> seen;
      const auto use = [&](int64_t id) {
        const Instruction* const read = program.Find(id);
        if (read != nullptr && seen.insert(read).second) users_[read].push_back(&instruction);
      };
      for (const int64_t id : instruction.operands) use(id);
      for (const int64_t id : instruction.control_predecessors) use(id);
      for (const int64_t id : instruction.called_computations)
        if (const Computation* const called = program.FindComputation(id))
          callers_[called].push_back(&instruction);
    }
  }
}

const Instruction* ProgramGraph::FusionOf(const Computation& computation) const {
  const auto found = callers_.find(&computation);
  if (found == callers_.end()) return nullptr;
  for (const Instruction* const caller : found->second)
    if (caller->opcode == "fusion") return caller;
  return nullptr;
}

ProgramGraph::List ProgramGraph::ProducersOf(const Instruction& instruction) const {
  List list;
  std::unordered_set<const Instruction*> seen;
  for (const int64_t id : instruction.operands) AddOnce(program_.Find(id), &list, &seen);
  for (const int64_t id : instruction.control_predecessors)
    AddOnce(program_.Find(id), &list, &seen);
  if (instruction.opcode != "parameter") return list;
  const auto home = homes_.find(&instruction);
  if (home == homes_.end()) return list;
  const auto callers = callers_.find(home->second);
  if (callers == callers_.end()) return list;
  for (const Instruction* const caller : callers->second) {
    // A loop gives its computations one value.
    const int64_t number = TakesOperandsOneByOne(*caller) ? instruction.parameter_number : 0;
    if (!TakesOperandsOneByOne(*caller) && caller->opcode != "while") continue;
    if (number < 0 || static_cast<uint64_t>(number) >= caller->operands.size()) continue;
    AddOnce(program_.Find(caller->operands[static_cast<size_t>(number)]), &list, &seen);
  }
  return list;
}

ProgramGraph::List ProgramGraph::ConsumersOf(const Instruction& instruction) const {
  List list;
  std::unordered_set<const Instruction*> seen;
  if (const auto found = users_.find(&instruction); found != users_.end())
    for (const Instruction* const user : found->second) AddOnce(user, &list, &seen);
  const auto home = homes_.find(&instruction);
  if (home == homes_.end() || Program::RootOf(*home->second) != &instruction) return list;
  if (const auto callers = callers_.find(home->second); callers != callers_.end())
    for (const Instruction* const caller : callers->second) AddOnce(caller, &list, &seen);
  return list;
}

Neighborhood ProgramGraph::Around(const Instruction& middle, uint32_t depth, size_t most) const {
  std::vector<GraphNode> nodes;
  std::unordered_map<const Instruction*, size_t> numbers;
  const auto add = [&](const Instruction& instruction, int64_t distance, size_t parent) {
    GraphNode node;
    node.instruction = &instruction;
    if (const auto home = homes_.find(&instruction); home != homes_.end()) {
      node.computation = home->second;
      node.fusion = FusionOf(*home->second);
    }
    node.distance = static_cast<int32_t>(distance);
    node.parent = parent;
    numbers.try_emplace(&instruction, nodes.size());
    nodes.push_back(node);
  };
  add(middle, 0, 0);
  size_t ends[2] = {};
  for (const int direction : {-1, 1}) {
    const bool produces = direction < 0;
    const size_t begin = nodes.size();
    // Each direction has half of the room.
    const size_t room = produces ? 1 + most / 2 : most;
    std::vector<size_t> now = {0};
    for (uint32_t step = 1; step <= depth && !now.empty(); ++step) {
      std::vector<size_t> next;
      for (const size_t node : now) {
        const Instruction& from = *nodes[node].instruction;
        for (const Instruction* const each : produces ? ProducersOf(from) : ConsumersOf(from)) {
          if (numbers.contains(each) || nodes.size() >= std::max<size_t>(room, 1)) continue;
          next.push_back(nodes.size());
          add(*each, direction * static_cast<int64_t>(step), node);
        }
      }
      now = std::move(next);
    }
    ends[produces ? 0 : 1] = nodes.size();
    if (begin == nodes.size()) continue;
  }
  Neighborhood found;
  std::vector<size_t> order = {0};
  for (const size_t node : OrderOfTree(nodes, 1, ends[0])) order.push_back(node);
  for (const size_t node : OrderOfTree(nodes, ends[0], ends[1])) order.push_back(node);
  std::vector<size_t> places(nodes.size());
  for (size_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  for (const size_t node : order) {
    found.nodes.push_back(nodes[node]);
    found.nodes.back().parent = places[nodes[node].parent];
  }
  AddEdges(&found);
  return found;
}

void ProgramGraph::AddEdges(Neighborhood* found) const {
  std::unordered_map<const Instruction*, size_t> numbers;
  for (size_t i = 0; i < found->nodes.size(); ++i)
    numbers.try_emplace(found->nodes[i].instruction, i);
  for (size_t to = 0; to < found->nodes.size(); ++to) {
    GraphNode& node = found->nodes[to];
    const Instruction& reader = *node.instruction;
    for (const Instruction* const from : ProducersOf(reader)) {
      const auto number = numbers.find(from);
      if (number == numbers.end()) {
        ++node.left_out_producers;
        continue;
      }
      const auto operand = std::find_if(reader.operands.begin(), reader.operands.end(),
                                        [&](int64_t id) { return program_.Find(id) == from; });
      GraphEdge edge{number->second, to, -1, false};
      if (operand != reader.operands.end()) {
        edge.operand = operand - reader.operands.begin();
      } else {
        edge.is_control = reader.opcode != "parameter";
      }
      found->edges.push_back(edge);
    }
    for (const Instruction* const user : ConsumersOf(reader)) {
      const auto number = numbers.find(user);
      if (number == numbers.end()) {
        ++node.left_out_consumers;
        continue;
      }
      // The result of a computation goes to the instruction that calls it.
      const auto& operands = user->operands;
      const auto& before = user->control_predecessors;
      const auto is_reader = [&](int64_t id) { return program_.Find(id) == &reader; };
      if (std::none_of(operands.begin(), operands.end(), is_reader) &&
          std::none_of(before.begin(), before.end(), is_reader))
        found->edges.push_back({to, number->second, -1, false});
    }
  }
}

}  // namespace gpuprof::analysis::hlo
