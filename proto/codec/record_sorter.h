// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Turns the records of one ring into rows of chunk builders. Used by the drain thread while the
// process lives and by recovery afterwards, so both treat rings alike. Every field read from a ring
// is checked: rings are shared memory.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "proto/codec/chunk_builder.h"
#include "proto/container.h"
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
  RecordSorter(const RecordSorter&) = delete;
  RecordSorter& operator=(const RecordSorter&) = delete;

  // Consumes records [position, end) of `ring`. `position` and `end` are absolute ring positions.
  // For recovery, `skip_until` gives per chunk kind (by proto::RingKindIndex) the position below
  // which rows are already in the file; null: none. Returns the new position: `end`, or less when a
  // builder holds kRowsPerChunk rows (write the builders and call again: a caller that drains to
  // the end loops), or when it has passed `enough` and an event is complete. Records that make no
  // sense end the range: the rest of it is counted as corrupt and skipped.
  uint64_t Consume(const proto::RingHeader* ring, uint64_t position, uint64_t end,
                   const uint64_t* skip_until, uint64_t enough = ~uint64_t{0});

  // Frees the ring up to `position`, as Consume returned it last: every row before it is in the
  // file. Leaves in the ring what recovery needs to understand the records that follow.
  void Release(proto::RingHeader* ring, uint64_t position);
  // The other half, for recovery: takes up what Release left. Call before the first Consume.
  void Resume(const proto::RingHeader* ring);

  // Adds a row for each span that is still open in the ring header (kFlagIncomplete), ending at
  // `now`; inner ops first. `skip_until` as in Consume; a kind whose skip is all ones has its open
  // spans already.
  void AddOpenSpans(const proto::RingHeader* ring, uint64_t now, const uint64_t* skip_until);
  void AddOpenSpans(const proto::RingHeader* ring, uint64_t now) {
    AddOpenSpans(ring, now, nullptr);
  }

  // Knows the same stack as another sorter of the ring: for open spans of a snapshot, which become
  // rows while that one goes on.
  void TakeStackOf(const RecordSorter& other);

  // Builders made so far, in the order in which their kinds first came; some may be empty.
  std::vector<std::unique_ptr<ChunkBuilder>>& builders() { return builders_; }
  // Gives their memory back. Rows not written yet are lost: write them first.
  void DropBuilders();
  // Whether some builder is to be written before Consume goes on.
  bool full() const;
  uint64_t memory_bytes() const;
  uint64_t corrupt_records() const { return corrupt_; }
  // Stacks whose outer frames could not be known (a ring cut loose from its past).
  uint64_t cut_stacks() const { return cut_stacks_; }
  uint64_t rows() const { return rows_; }
  // Newest time seen in any record.
  uint64_t last_time() const { return last_time_; }

 private:
  struct Range;

  ChunkBuilder* MakeBuilder(proto::ChunkKind kind);
  bool Row(proto::ChunkKind kind, std::span<const uint64_t> row, uint64_t start);
  bool Event(const proto::Record& record, proto::ChunkKind kind);
  bool Payload(const proto::Record& record, const Range& range, uint64_t position,
               const uint64_t* skip_until, uint64_t* slots);
  bool Values(const proto::Record& record, const Range& range, uint64_t position,
              const uint64_t* skip_until, uint64_t* slots);
  bool Rows(const proto::Record& record, const Range& range, uint64_t position,
            const uint64_t* skip_until, uint64_t* slots);
  bool Prefix(const proto::Record& record, const Range& range, uint64_t position, uint64_t* slots);
  bool TakeStack(const proto::Record& record, uint64_t end, const void* pcs);
  bool has_prefix() const { return has_stack_ || has_duration_ || text_bytes_ != 0 || owner_ != 0; }
  void AddOpenCalls(const proto::RingHeader* ring, uint64_t now);
  void AddOpenRanges(const proto::RingHeader* ring, uint64_t now);
  void EndEvent();
  uint64_t DurationOf(const proto::Record& record);
  uint32_t StackId();

  uint32_t track_;
  uint32_t time_shift_;
  Interner* interner_;
  std::vector<std::unique_ptr<ChunkBuilder>> builders_;
  ChunkBuilder* by_kind_[proto::kRingKinds] = {};

  // State between a prefix record and its event.
  bool has_stack_ = false;
  bool has_duration_ = false;
  uint32_t text_bytes_ = 0;
  uint64_t long_duration_ = 0;
  uint64_t owner_ = 0;
  uint64_t total_allocated_ = 0;
  uint64_t total_reserved_ = 0;
  uint64_t range_style_ = 0;
  uint64_t range_payload_ = 0;
  uint64_t dropped_ = 0;
  // The stack of the last kStack record.
  uint64_t last_stack_[proto::kMaxStackFrames] = {};
  uint32_t last_stack_frames_ = 0;
  uint64_t last_stack_end_ = 0;  // ring position behind it
  uint32_t last_stack_id_ = 0;   // its id; 0 or overflow: to be interned

  uint64_t corrupt_ = 0;
  uint64_t cut_stacks_ = 0;
  uint64_t rows_ = 0;
  uint64_t last_time_ = 0;
  char payload_[proto::kMaxPayloadBytes];  // the text before the next event
};

}  // namespace gpuprof::codec
