// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Collects the headers of a trace's blocks for an index, and serializes them as a message Index.
// Used by TraceWriter, one thread at a time. No exceptions; memory comes from operator new.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/container.h"

namespace gpuprof::codec {

class IndexBuilder {
 public:
  // Adds a block whose frame begins at `offset` of the file. Blocks come in the order of the file.
  void Add(const proto::BlockHeader& header, uint64_t offset);

  uint32_t blocks() const { return static_cast<uint32_t>(entries_.size()); }

  // Serializes the first entries, at most `most`, appends the message to `out` and forgets these
  // entries. Returns how many there were.
  uint32_t Take(uint32_t most, std::vector<uint8_t>* out);

  // Forgets everything and gives the memory back.
  void Clear();

  uint64_t memory_bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    uint64_t skipped;  // bytes between the end of the block before and this block's header
    uint64_t first_time;
    uint64_t last_time;
    uint64_t dropped_before;
    uint32_t compressed_bytes;
    uint32_t raw_bytes;
    uint32_t track;
    uint32_t count;
    uint32_t sequence;
    uint16_t kind;
    uint16_t capture;
  };

  std::vector<Entry> entries_;
  uint64_t end_ = proto::kFirstBlockOffset;  // of the last block
};

}  // namespace gpuprof::codec
