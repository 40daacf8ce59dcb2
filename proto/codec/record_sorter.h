// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Turns the records of one ring into rows of chunk builders. Used by the drain thread while the process lives and by recovery
// afterwards, so both treat rings alike. Every field read from a ring is checked: rings are shared memory.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proto/codec/chunk_builder.h"
#include "proto/ring.h"

namespace gpuprof::codec {

// Tables shared by all rings of a process.
class Interner {
 public:
  virtual ~Interner() = default;
  // `frames` innermost first. Returns the stack id (0: none, 1: table full).
  virtual uint32_t InternStack(const uint64_t* frames, uint32_t count) = 0;
  // Defines string `id` as `text` (from a kString record).
  virtual void DefineString(uint32_t id, const char* text, uint32_t bytes) = 0;
  // Returns an id for a text that came with a record (an executable's path).
  virtual uint32_t InternText(const char* text, uint32_t bytes) = 0;
};

class RecordSorter {
 public:
  RecordSorter(uint32_t track, uint32_t time_shift, Interner* interner);
  ~RecordSorter();

  // Consumes records [position, end) of `ring`. `position` and `end` are absolute ring positions. For recovery, `skip_until`
  // gives per chunk kind (indexed by kind - kHeap) the position below which rows are already in the file; null: none.
  // Returns the new position (== end).
  uint64_t Consume(const proto::RingHeader* ring, uint64_t position, uint64_t end, const uint64_t* skip_until);

  // Adds a row for each span that is still open in the ring header (kFlagIncomplete), ending at `now`.
  void AddOpenSpans(const proto::RingHeader* ring, uint64_t now);

  // Builders with rows, in a fixed order; empty ones may be included.
  std::vector<std::unique_ptr<ChunkBuilder>>& builders() { return builders_; }
  uint64_t memory_bytes() const;
  uint64_t corrupt_records() const { return corrupt_; }
  uint64_t rows() const { return rows_; }

 private:
  ChunkBuilder* BuilderFor(proto::ChunkKind kind);
  void Row(proto::ChunkKind kind, const uint64_t* row, uint64_t start);

  uint32_t track_;
  uint32_t time_shift_;
  Interner* interner_;
  std::vector<std::unique_ptr<ChunkBuilder>> builders_;
  // State between a prefix record and its event.
  uint32_t stack_ = 0;
  uint32_t text_ = 0;
  uint64_t long_duration_ = 0;
  uint64_t total_allocated_ = 0;
  uint64_t total_reserved_ = 0;
  uint64_t last_stack_[proto::kMaxStackFrames] = {};
  uint32_t last_stack_frames_ = 0;
  uint64_t corrupt_ = 0;
  uint64_t rows_ = 0;
};

}  // namespace gpuprof::codec
