// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Collects the sums of the work in a trace's blocks, and serializes them as messages WorkSums
// (proto/FORMAT.md, "Sums of work"). A group has the sums of some blocks of one table and track. A
// group that would be long next to its blocks is left out.
//
// Used by TraceWriter, one thread at a time. No exceptions; memory comes from operator new and is
// bounded.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proto/codec/keyed_last.h"
#include "proto/codec/keyed_sums.h"
#include "proto/codec/span_sums.h"
#include "proto/container.h"

namespace gpuprof::codec {

class WorkSumsBuilder {
 public:
  // Adds a block that is in the file. Blocks come in the order of the file.
  void Add(const proto::BlockHeader& header, uint32_t sampled_one_in, const SpanSums& sums);

  // Returns whether Take should be called before the next Add.
  bool is_due() const { return is_due_; }

  // Appends a message to `out` with the groups that are worth it, and forgets them. The message
  // will be in the block `sequence`. Returns how many groups there were.
  uint32_t Take(uint32_t sequence, std::vector<uint8_t>* out);

  // Returns the capture of the last block.
  uint16_t capture() const { return capture_; }

  // Forgets everything and gives the memory back.
  void Clear();

  uint64_t memory_bytes() const { return memory_bytes_ + group_at_.memory_bytes(); }

 private:
  struct Block {
    uint32_t sequence;
    uint64_t busy;
  };
  struct Group {
    Group() : keys(proto::kMostKeysOfSums) {}
    uint64_t MemoryBytes() const {
      return sizeof(*this) + blocks.capacity() * sizeof(Block) + keys.memory_bytes();
    }
    bool IsFull() const;

    uint16_t kind = 0;
    uint32_t track = 0;
    uint32_t sampled_one_in = 1;
    bool lacks_bytes = false;
    bool has_no_room = false;
    uint64_t compressed_bytes = 0;  // of the blocks
    std::vector<Block> blocks;
    KeyedSums keys;
  };

  static uint64_t NameOf(uint16_t kind, uint32_t track, uint32_t sampled_one_in);
  Group* Find(const proto::BlockHeader& header, uint32_t sampled_one_in);
  static void Put(const Group& group, uint32_t sequence, std::vector<uint8_t>* out);

  std::vector<std::unique_ptr<Group>> groups_;
  KeyedLast group_at_;  // place in groups_ plus 1
  uint64_t memory_bytes_ = 0;
  uint16_t capture_ = 0;
  bool is_due_ = false;
};

}  // namespace gpuprof::codec
