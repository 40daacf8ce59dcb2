// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stacks as a tree of (parent, program counter) nodes, and texts by id. Drain thread and recovery,
// one thread at a time. Never grows beyond the limits given: what does not fit gets the overflow id
// and is counted.

#include <algorithm>
#include <cstring>

#include "proto/codec/tables.h"
#include "proto/codec/varint.h"
#include "proto/schema.h"

namespace gpuprof::codec {
namespace {

constexpr uint32_t kFirstIndexSlots = 1024;
constexpr uint32_t kFirstTextSlots = 64;

uint64_t Mix(uint64_t value) {
  value ^= value >> 32;
  value *= 0x9e3779b97f4a7c15u;
  value ^= value >> 29;
  value *= 0xbf58476d1ce4e5b9u;
  return value ^ value >> 32;
}

uint64_t HashNode(uint32_t parent, uint64_t pc) {
  return Mix(pc + uint64_t{parent} * 0xd6e8feb86659fd93u);
}

uint64_t HashText(const char* text, uint32_t bytes, uint64_t seed) {
  uint64_t hash = seed ^ bytes;
  while (bytes >= 8) {
    uint64_t word;
    std::memcpy(&word, text, sizeof word);
    hash = Mix(hash ^ word);
    text += 8;
    bytes -= 8;
  }
  uint64_t word = 0;
  std::memcpy(&word, text, bytes);
  return Mix(hash ^ word);
}

}  // namespace

InternTables::InternTables(uint32_t most_stack_nodes, uint32_t most_strings,
                           uint64_t most_string_bytes)
    : most_nodes_(most_stack_nodes),
      most_strings_(most_strings),
      most_string_bytes_(most_string_bytes) {}

void InternTables::SetNextStackNode(uint32_t id) {
  nodes_.clear();
  index_.clear();
  path_frames_ = 0;
  first_node_ = first_pending_node_ = last_taken_node_ = id;
}

void InternTables::ForgetStacksIfMany(uint32_t many) {
  if (nodes_.size() < many) return;
  if (first_node_ + nodes_.size() + most_nodes_ > proto::kMostStackIds) return;
  first_node_ += static_cast<uint32_t>(nodes_.size());
  first_pending_node_ = last_taken_node_ = first_node_;
  nodes_.clear();
  std::fill(index_.begin(), index_.end(), IndexSlot{});
  path_frames_ = 0;
}

void InternTables::GrowIndex() {
  std::vector<IndexSlot> grown(index_.empty() ? kFirstIndexSlots : index_.size() * 2);
  const uint64_t mask = grown.size() - 1;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const uint64_t hash = HashNode(nodes_[i].parent, nodes_[i].pc);
    uint64_t slot = hash & mask;
    while (grown[slot].id != 0) slot = (slot + 1) & mask;
    grown[slot] = {first_node_ + i, static_cast<uint32_t>(hash >> 32)};
  }
  index_.swap(grown);
}

uint32_t InternTables::Child(uint32_t parent, uint64_t pc) {
  // Most stacks go where the one before went: the hint lies beside the parent, the index does not.
  if (parent != 0) {
    const uint32_t hint = nodes_[parent - first_node_].last_child;
    if (hint != 0 && nodes_[hint - first_node_].pc == pc) return hint;
  }
  const uint32_t child = FindChild(parent, pc);
  if (parent != 0 && child != 0) nodes_[parent - first_node_].last_child = child;
  return child;
}

uint32_t InternTables::FindChild(uint32_t parent, uint64_t pc) {
  if (nodes_.size() * 2 >= index_.size()) GrowIndex();
  const uint64_t mask = index_.size() - 1;
  const uint64_t hash = HashNode(parent, pc);
  const uint32_t check = static_cast<uint32_t>(hash >> 32);
  uint64_t slot = hash & mask;
  for (; index_[slot].id != 0; slot = (slot + 1) & mask) {
    if (index_[slot].check != check) continue;
    const Node& node = nodes_[index_[slot].id - first_node_];
    if (node.pc == pc && node.parent == parent) return index_[slot].id;
  }
  if (nodes_.size() >= most_nodes_) return 0;
  const uint32_t id = first_node_ + static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(Node{pc, parent, 0});
  index_[slot] = {id, check};
  return id;
}

uint32_t InternTables::InternStack(const uint64_t* frames, uint32_t count) {
  if (count == 0) return 0;
  if (count > proto::kMaxStackFrames) count = proto::kMaxStackFrames;
  uint32_t depth = 0;
  while (depth < count && depth < path_frames_ && path_pc_[depth] == frames[count - 1 - depth]) {
    ++depth;
  }
  uint32_t node = depth == 0 ? 0 : path_node_[depth - 1];
  if (depth == count) return node;  // the whole stack lies on the last path, which stays
  for (; depth < count; ++depth) {
    const uint64_t pc = frames[count - 1 - depth];
    node = Child(node, pc);
    if (node == 0) {
      path_frames_ = depth;
      ++stacks_refused_;
      return kOverflowId;
    }
    path_pc_[depth] = pc;
    path_node_[depth] = node;
  }
  path_frames_ = count;
  return node;
}

void InternTables::DropTakenStrings() {
  if (taken_strings_ == 0) return;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < taken_strings_; ++i) bytes += pending_strings_[i].bytes;
  pending_strings_.erase(pending_strings_.begin(), pending_strings_.begin() + taken_strings_);
  pending_text_.erase(pending_text_.begin(),
                      pending_text_.begin() + static_cast<std::ptrdiff_t>(bytes));
  taken_strings_ = 0;
}

bool InternTables::AddString(uint32_t id, const char* text, uint32_t bytes) {
  if (strings_ >= most_strings_ || string_bytes_ + bytes > most_string_bytes_) {
    ++strings_refused_;
    return false;
  }
  DropTakenStrings();
  pending_strings_.push_back(PendingString{id, bytes});
  pending_text_.insert(pending_text_.end(), text, text + bytes);
  ++strings_;
  string_bytes_ += bytes;
  return true;
}

void InternTables::DefineString(uint32_t id, const char* text, uint32_t bytes) {
  AddString(id, text, bytes);
}

void InternTables::GrowTexts() {
  std::vector<KnownText> grown(texts_.empty() ? kFirstTextSlots : texts_.size() * 2);
  const uint64_t mask = grown.size() - 1;
  for (const KnownText& known : texts_) {
    if (known.id == 0) continue;
    uint64_t slot = known.hash & mask;
    while (grown[slot].id != 0) slot = (slot + 1) & mask;
    grown[slot] = known;
  }
  texts_.swap(grown);
}

uint32_t InternTables::InternText(const char* text, uint32_t bytes) {
  if (known_texts_ * 2 >= texts_.size()) GrowTexts();
  const uint64_t hash = HashText(text, bytes, 0);
  const uint32_t check = static_cast<uint32_t>(HashText(text, bytes, 0x51afd7ed558ccd6du));
  const uint64_t mask = texts_.size() - 1;
  uint64_t slot = hash & mask;
  while (texts_[slot].id != 0) {
    if (texts_[slot].hash == hash && texts_[slot].check == check) return texts_[slot].id;
    slot = (slot + 1) & mask;
  }
  if (next_text_id_ < kFirstTextId || !AddString(next_text_id_, text, bytes)) return kOverflowId;
  texts_[slot] = KnownText{hash, check, next_text_id_};
  ++known_texts_;
  return next_text_id_++;
}

// Message Strings: ids packed in field 1, texts in field 2.
uint32_t InternTables::TakeStrings(std::vector<uint8_t>* out) {
  DropTakenStrings();
  const uint32_t count = static_cast<uint32_t>(pending_strings_.size());
  if (count == 0) return 0;
  out->reserve(out->size() + pending_text_.size() + count * 9 + 16);
  PbWriter writer(out);
  const uint64_t ids = writer.Begin(1);
  for (const PendingString& string : pending_strings_) writer.RawVarint(string.id);
  writer.End(ids);
  uint64_t offset = 0;
  for (const PendingString& string : pending_strings_) {
    writer.Bytes(2, pending_text_.data() + offset, string.bytes);
    offset += string.bytes;
  }
  taken_strings_ = count;
  return count;
}

// Message Stacks: see trace.proto for how nodes refer to their parents.
uint32_t InternTables::TakeStacks(std::vector<uint8_t>* out) {
  last_taken_node_ = first_pending_node_;
  const uint32_t next = first_node_ + static_cast<uint32_t>(nodes_.size());
  const uint32_t count = next - first_pending_node_;
  if (count == 0) return 0;
  PbWriter writer(out);
  writer.Varint(1, first_pending_node_);
  const uint64_t parents = writer.Begin(2);
  for (uint32_t id = first_pending_node_; id < next; ++id) {
    const uint32_t parent = nodes_[id - first_node_].parent;
    writer.RawVarint(parent == 0 ? 0 : id - parent);
  }
  writer.End(parents);
  const uint64_t pcs = writer.Begin(3);
  uint64_t previous = 0;
  for (uint32_t id = first_pending_node_; id < next; ++id) {
    const uint64_t pc = nodes_[id - first_node_].pc;
    writer.RawVarint(ZigZag(pc - previous));
    previous = pc;
  }
  writer.End(pcs);
  first_pending_node_ = next;
  return count;
}

uint64_t InternTables::memory_bytes() const {
  return sizeof(*this) + nodes_.capacity() * sizeof(Node) + index_.capacity() * sizeof(IndexSlot) +
         pending_strings_.capacity() * sizeof(PendingString) + pending_text_.capacity() +
         texts_.capacity() * sizeof(KnownText);
}

}  // namespace gpuprof::codec
