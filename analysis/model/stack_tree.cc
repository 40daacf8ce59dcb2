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

size_t StackTree::PositionOf(uint32_t id) const {
  auto run = runs_.upper_bound(id);
  if (run == runs_.begin()) return kNowhere;
  --run;
  const uint32_t offset = id - run->first;
  return offset < run->second.count ? run->second.position + offset : kNowhere;
}

// `id` belongs to the node that is about to be the last.
void StackTree::AddToRuns(uint32_t id) {
  auto run = runs_.upper_bound(id);
  if (run != runs_.begin()) {
    --run;
    const bool follows = run->first + run->second.count == id &&
                         run->second.position + run->second.count == nodes_.size();
    if (follows) {
      ++run->second.count;
      return;
    }
  }
  runs_[id] = {1, nodes_.size()};
}

void StackTree::GrowIndex() {
  std::vector<uint32_t> grown(index_.empty() ? kFirstSlots : index_.size() * 2);
  const uint64_t mask = grown.size() - 1;
  for (const uint32_t entry : index_) {
    if (entry == 0) continue;
    const Node& node = nodes_[entry - 1];
    uint64_t slot = Hash(node.parent, node.pc) & mask;
    while (grown[slot] != 0) slot = (slot + 1) & mask;
    grown[slot] = entry;
  }
  index_.swap(grown);
}

// The id of an equal node, or `id`, which then is the first of its kind.
uint32_t StackTree::CanonicalOf(uint32_t id, uint32_t parent, uint64_t pc) {
  if (distinct_ * 2 >= index_.size()) GrowIndex();
  const uint64_t mask = index_.size() - 1;
  uint64_t slot = Hash(parent, pc) & mask;
  for (; index_[slot] != 0; slot = (slot + 1) & mask) {
    const Node& node = nodes_[index_[slot] - 1];
    if (node.pc == pc && node.parent == parent) return node.canonical;
  }
  index_[slot] = static_cast<uint32_t>(nodes_.size()) + 1;
  ++distinct_;
  return id;
}

bool StackTree::Add(uint32_t id, uint32_t parent, uint64_t pc) {
  const size_t above = parent == 0 ? kNowhere : PositionOf(parent);
  const bool is_known = parent == 0 || above != kNowhere;
  if (PositionOf(id) != kNowhere) return is_known;
  const uint32_t canonical_parent = above == kNowhere ? 0 : nodes_[above].canonical;
  const uint32_t canonical = CanonicalOf(id, canonical_parent, pc);
  AddToRuns(id);
  nodes_.push_back({pc, canonical_parent, canonical});
  return is_known;
}

uint32_t StackTree::Child(uint32_t parent, uint64_t pc) {
  const uint32_t above = Canonical(parent);
  if (!index_.empty()) {
    const uint64_t mask = index_.size() - 1;
    for (uint64_t slot = Hash(above, pc) & mask; index_[slot] != 0; slot = (slot + 1) & mask) {
      const Node& node = nodes_[index_[slot] - 1];
      if (node.pc == pc && node.parent == above) return node.canonical;
    }
  }
  // Ids 0 and 1 are no nodes.
  const uint64_t id =
      runs_.empty() ? 2 : uint64_t{runs_.rbegin()->first} + runs_.rbegin()->second.count;
  if (id > UINT32_MAX || nodes_.size() >= proto::kMostStackIds) return 0;
  Add(static_cast<uint32_t>(id), parent, pc);
  return static_cast<uint32_t>(id);
}

bool StackTree::Find(uint32_t id, StackNode* node) const {
  const size_t position = PositionOf(id);
  if (position == kNowhere) return false;
  *node = {nodes_[position].parent, nodes_[position].pc};
  return true;
}

size_t StackTree::PlaceOf(uint32_t id) const {
  const size_t position = PositionOf(id);
  return position == kNowhere ? nodes_.size() : position;
}

uint32_t StackTree::Canonical(uint32_t id) const {
  const size_t position = PositionOf(id);
  return position == kNowhere ? id : nodes_[position].canonical;
}

}  // namespace gpuprof::analysis
