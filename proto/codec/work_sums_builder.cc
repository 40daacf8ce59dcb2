// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See work_sums_builder.h. trace.proto says what each column holds.

#include "proto/codec/work_sums_builder.h"

#include <algorithm>
#include <utility>

#include "proto/codec/tables.h"

namespace gpuprof::codec {
namespace {

// A reader decodes a few rows in the time that one key takes.
constexpr uint64_t kLeastRowsOfAKey = 4;
// The blocks are so many times as long as their sums.
constexpr uint64_t kLeastBlocksToSums = 128;
constexpr uint64_t kMostMemory = 1u << 20;
constexpr uint64_t kMostChunkBytes = 64;  // of a block's message, without the sums

}  // namespace

bool WorkSumsBuilder::Group::IsFull() const {
  return has_no_room || blocks.size() >= proto::kMostBlocksOfSums;
}

// Each table, track and sampling factor has a group.
uint64_t WorkSumsBuilder::NameOf(uint16_t kind, uint32_t track, uint32_t sampled_one_in) {
  return uint64_t{track} << 32 | uint64_t{kind} << 24 | (sampled_one_in & 0xffffff);
}

WorkSumsBuilder::Group* WorkSumsBuilder::Find(const proto::BlockHeader& header,
                                              uint32_t sampled_one_in) {
  uint64_t* const place = group_at_.Find(NameOf(header.kind, header.track, sampled_one_in));
  if (*place == 0) {
    groups_.push_back(std::make_unique<Group>());
    *place = groups_.size();
    Group& made = *groups_.back();
    made.kind = header.kind;
    made.track = header.track;
    made.sampled_one_in = sampled_one_in;
    memory_bytes_ += made.MemoryBytes();
  }
  return groups_[*place - 1].get();
}

void WorkSumsBuilder::Add(const proto::BlockHeader& header, uint32_t sampled_one_in,
                          const SpanSums& sums) {
  if (!sums.is_whole() || header.count < kLeastRowsOfAKey * sums.keys().size()) return;
  capture_ = header.capture;
  Group* const group = Find(header, sampled_one_in);
  if (group->keys.keys().size() + sums.keys().size() > proto::kMostKeysOfSums) {
    // Known keys need no room. Whether these are known is not worth a search.
    group->has_no_room = is_due_ = true;
    return;
  }
  memory_bytes_ -= group->MemoryBytes();
  for (const KeyedSums::Key& key : sums.keys()) {
    group->keys.keys()[group->keys.PlaceOf(key.key) - 1].Join(key);
  }
  group->blocks.push_back({header.sequence, sums.busy()});
  group->compressed_bytes += header.compressed_bytes;
  group->lacks_bytes |= sums.lacks_values();
  memory_bytes_ += group->MemoryBytes();
  is_due_ |= group->IsFull() || memory_bytes_ > kMostMemory;
}

void WorkSumsBuilder::Put(const Group& group, uint32_t sequence, std::vector<uint8_t>* out) {
  namespace f = work_sums_field;
  using Key = KeyedSums::Key;
  PbWriter writer(out);
  const uint64_t message = writer.Begin(f::kGroup);
  writer.Varint(f::kKind, group.kind);
  writer.Varint(f::kTrack, group.track);
  if (group.sampled_one_in > 1) writer.Varint(f::kSampledOneIn, group.sampled_one_in);
  if (group.lacks_bytes) writer.Varint(f::kLacksBytes, 1);
  const auto column = [&writer](int field, const auto& entries, const auto& value) {
    const uint64_t packed = writer.Begin(field);
    for (const auto& entry : entries) writer.RawVarint(value(entry));
    writer.End(packed);
  };
  column(f::kBlocksBack, group.blocks,
         [=](const Block& block) { return sequence - block.sequence; });
  column(f::kBusy, group.blocks, [](const Block& block) { return block.busy; });
  const std::vector<Key>& keys = group.keys.keys();
  column(f::kKey, keys, [](const Key& key) { return key.key; });
  column(f::kRows, keys, [](const Key& key) { return key.rows; });
  column(f::kTotal, keys, [](const Key& key) { return key.total; });
  column(f::kLeast, keys, [](const Key& key) { return key.least; });
  column(f::kMost, keys, [](const Key& key) { return key.most - key.least; });
  const auto has_bytes = [](const Key& key) { return key.value != 0; };
  if (std::any_of(keys.begin(), keys.end(), has_bytes))
    column(f::kBytes, keys, [](const Key& key) { return key.value; });
  writer.End(message);
}

uint32_t WorkSumsBuilder::Take(uint32_t sequence, std::vector<uint8_t>* out) {
  uint32_t taken = 0;
  std::vector<std::unique_ptr<Group>> kept;
  for (std::unique_ptr<Group>& group : groups_) {
    const size_t before = out->size();
    Put(*group, sequence, out);
    const uint64_t bytes = out->size() - before;
    const bool is_worth_it = !group->blocks.empty() &&
                             bytes * kLeastBlocksToSums <= group->compressed_bytes &&
                             out->size() <= proto::kMaxRawSumsBytes - kMostChunkBytes;
    if (is_worth_it) {
      ++taken;
    } else {
      out->resize(before);
      // More blocks may make it worth it.
      if (!group->IsFull() && memory_bytes_ <= kMostMemory) kept.push_back(std::move(group));
    }
  }
  groups_ = std::move(kept);
  group_at_.Clear();
  is_due_ = false;
  memory_bytes_ = 0;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = *groups_[i];
    *group_at_.Find(NameOf(group.kind, group.track, group.sampled_one_in)) = i + 1;
    memory_bytes_ += group.MemoryBytes();
  }
  return taken;
}

void WorkSumsBuilder::Clear() {
  std::vector<std::unique_ptr<Group>>().swap(groups_);
  group_at_.Clear();
  memory_bytes_ = 0;
  is_due_ = false;
}

}  // namespace gpuprof::codec
