// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Holds the rows of one of CUPTI's tables (proto/schema.h: kernels, copies, API calls, allocations)
// on one track until a chunk is made of them. CUPTI's records come in no order, neither within a
// buffer nor between buffers. The chunk has them sorted, and counts chained spans in ticks of the
// clock that they show.
//
// One thread at a time. No exceptions; memory comes from operator new.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "proto/codec/chunk_builder.h"

namespace gpuprof::codec {

class SpanBuffer {
 public:
  SpanBuffer(proto::ChunkKind kind, uint32_t track);
  SpanBuffer(const SpanBuffer&) = delete;
  SpanBuffer& operator=(const SpanBuffer&) = delete;

  // Adds a row: the table's columns in schema order. In chained tables [0] is the end and [1] the
  // duration, both on CUPTI's clock in nanoseconds; a duration that begins before 0 is cut there.
  // In other tables [0] is the time of a moment.
  void Append(const uint64_t* row) { std::memcpy(NewRow(row[0]), row, columns_ * sizeof(*row)); }
  // Does the same for a known table. It stores each value on its own, because a processor must wait
  // if it loads values together that it has just stored one by one.
  template <size_t kColumns>
  void AppendRow(const uint64_t (&row)[kColumns]) {
    uint64_t* to = NewRow(row[0]);
    [&]<size_t... kColumn>(std::index_sequence<kColumn...>) { ((to[kColumn] = row[kColumn]), ...); }
    (std::make_index_sequence<kColumns>());
  }

  // Sets how many events each row stands for from now on. The buffer must be empty.
  void SetSampledOneIn(uint32_t one_in) { sampled_one_in_ = one_in; }
  uint32_t sampled_one_in() const { return sampled_one_in_; }

  uint32_t count() const { return count_; }
  uint32_t track() const { return track_; }
  proto::ChunkKind kind() const { return kind_; }
  uint64_t memory_bytes() const;

  // Encodes all rows, ordered by their ends, and empties the buffer. Write them before the next
  // Append.
  ChunkBuilder* Encode();
  // Call this after the rows were written. Frees the encoder if the rows were few: it takes more
  // room than they do, and there may be a buffer for each of many streams.
  void RowsAreWritten();
  // Frees all memory that an empty buffer keeps for later rows. Predictions do not suffer, because
  // each chunk begins them anew.
  void GiveMemoryBack();

 private:
  const uint64_t* Row(uint32_t index) const { return &rows_[uint64_t{index} * columns_]; }
  // Makes place for a row; the caller fills all of it.
  uint64_t* NewRow(uint64_t end) {
    if (used_ == room_) MakeRoom();
    if (end < last_end_) is_sorted_ = false;
    last_end_ = end;
    least_end_ = std::min(least_end_, end);
    most_end_ = std::max(most_end_, end);
    uint64_t* row = &rows_[used_];
    used_ += columns_;
    ++count_;
    return row;
  }
  void MakeRoom();
  uint64_t StartOf(const uint64_t* row) const;
  void Sort();
  void SortByDigits(uint32_t range);
  void GiveRowsBack();
  SpanTick FindTick() const;
  std::vector<uint32_t> TellingSpans() const;

  proto::ChunkKind kind_;
  bool is_chained_;
  uint32_t track_;
  uint32_t columns_;
  uint32_t count_ = 0;
  uint32_t encoded_ = 0;  // rows of the last chunk
  uint32_t sampled_one_in_ = 1;
  bool is_sorted_ = true;
  uint64_t last_end_ = 0;
  uint64_t least_end_ = ~uint64_t{0}, most_end_ = 0;
  std::unique_ptr<uint64_t[]> rows_;
  size_t used_ = 0, room_ = 0;  // values in rows_
  // Time since the earliest row << 32 | index, or the index alone if the times do not fit.
  std::vector<uint64_t> order_;
  std::vector<uint64_t> sorted_;
  std::unique_ptr<ChunkBuilder> builder_;  // from the first chunk on, until it is given back
};

}  // namespace gpuprof::codec
