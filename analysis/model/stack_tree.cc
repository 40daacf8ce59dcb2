// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/model/stack_tree.h"

#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kFirstSlots = 1024;

uint64_t Hash(uint32_t parent, uint64_t pc) {
  uint64_t value = (pc + uint64_t{parent} * 0xd6e8feb86659fd93u);
  value ^= value >> 32;
  value *= 0x9e3779b97f4a7c15u;
  return value ^ value >> 29;
}

}  // namespace

size_t StackTree::State::PositionOf(uint32_t id) const {
  auto run = runs.upper_bound(id);
  if (run == runs.begin()) return kNowhere;
  --run;
  const uint32_t offset = id - run->first;
  return offset < run->second.count ? run->second.position + offset : kNowhere;
}

// `id` belongs to the node that is about to be the last.
void StackTree::State::AddToRuns(uint32_t id) {
  auto run = runs.upper_bound(id);
  if (run != runs.begin()) {
    --run;
    const bool follows = run->first + run->second.count == id &&
                         run->second.position + run->second.count == nodes.size();
    if (follows) {
      ++run->second.count;
      return;
    }
  }
  runs[id] = {1, nodes.size()};
}

void StackTree::State::GrowIndex() {
  std::vector<uint32_t> grown(index.empty() ? kFirstSlots : index.size() * 2);
  const uint64_t mask = grown.size() - 1;
  for (const uint32_t entry : index) {
    if (entry == 0) continue;
    const Node& node = nodes[entry - 1];
    uint64_t slot = Hash(node.parent, node.pc) & mask;
    while (grown[slot] != 0) slot = (slot + 1) & mask;
    grown[slot] = entry;
  }
  index.swap(grown);
}

// The id of an equal node, or `id`, which then is the first of its kind.
uint32_t StackTree::State::CanonicalOf(uint32_t id, uint32_t parent, uint64_t pc) {
  if (distinct * 2 >= index.size()) GrowIndex();
  const uint64_t mask = index.size() - 1;
  uint64_t slot = Hash(parent, pc) & mask;
  for (; index[slot] != 0; slot = (slot + 1) & mask) {
    const Node& node = nodes[index[slot] - 1];
    if (node.pc == pc && node.parent == parent) return node.canonical;
  }
  index[slot] = static_cast<uint32_t>(nodes.size()) + 1;
  ++distinct;
  return id;
}

bool StackTree::State::Add(uint32_t id, uint32_t parent, uint64_t pc) {
  const size_t above = parent == 0 ? kNowhere : PositionOf(parent);
  const bool is_known = parent == 0 || above != kNowhere;
  if (PositionOf(id) != kNowhere) return is_known;
  const uint32_t canonical_parent = above == kNowhere ? 0 : nodes[above].canonical;
  const uint32_t canonical = CanonicalOf(id, canonical_parent, pc);
  AddToRuns(id);
  nodes.push_back({pc, canonical_parent, canonical});
  return is_known;
}

bool StackTree::Add(uint32_t id, uint32_t parent, uint64_t pc) {
  return state_.Own().Add(id, parent, pc);
}

uint32_t StackTree::Child(uint32_t parent, uint64_t pc) {
  const uint32_t above = Canonical(parent);
  const State& state = *state_;
  if (!state.index.empty()) {
    const uint64_t mask = state.index.size() - 1;
    for (uint64_t slot = Hash(above, pc) & mask; state.index[slot] != 0; slot = (slot + 1) & mask) {
      const Node& node = state.nodes[state.index[slot] - 1];
      if (node.pc == pc && node.parent == above) return node.canonical;
    }
  }
  // Ids 0 and 1 are no nodes.
  const uint64_t id =
      state.runs.empty() ? 2
                         : uint64_t{state.runs.rbegin()->first} + state.runs.rbegin()->second.count;
  if (id > UINT32_MAX || state.nodes.size() >= proto::kMostStackIds) return 0;
  Add(static_cast<uint32_t>(id), parent, pc);
  return static_cast<uint32_t>(id);
}

bool StackTree::Find(uint32_t id, StackNode* node) const {
  const size_t position = state_->PositionOf(id);
  if (position == kNowhere) return false;
  *node = {state_->nodes[position].parent, state_->nodes[position].pc};
  return true;
}

size_t StackTree::PlaceOf(uint32_t id) const {
  const size_t position = state_->PositionOf(id);
  return position == kNowhere ? state_->nodes.size() : position;
}

uint32_t StackTree::Canonical(uint32_t id) const {
  const size_t position = state_->PositionOf(id);
  return position == kNowhere ? id : state_->nodes[position].canonical;
}

}  // namespace gpuprof::analysis
