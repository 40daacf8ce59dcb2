// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of one table of CUPTI's (proto/schema.h: kernels, copies, API calls, allocations) on one
// track, as it delivers them, until a chunk is made of them: sorted, and chained ones in units of
// the clock step that they turn out to have. CUPTI's records come in no order, neither within a
// buffer nor between buffers.
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

  // `row` holds the table's columns in schema order. Of chained tables [0] is the end, [1] the
  // duration, both on CUPTI's clock in nanoseconds; a duration that begins before 0 is cut there.
  // Of others [0] is the time of a moment.
  void Append(const uint64_t* row) { std::memcpy(NewRow(row[0]), row, columns_ * sizeof(*row)); }
  // The same where the table is known: each value on its own, as a processor must wait for what it
  // has just stored where it loads that together with its neighbours.
  template <size_t kColumns>
  void AppendRow(const uint64_t (&row)[kColumns]) {
    uint64_t* to = NewRow(row[0]);
    [&]<size_t... kColumn>(std::index_sequence<kColumn...>) { ((to[kColumn] = row[kColumn]), ...); }
    (std::make_index_sequence<kColumns>());
  }

  // How many there were for each row from here on. Of an empty buffer.
  void SetSampledOneIn(uint32_t one_in) { sampled_one_in_ = one_in; }
  uint32_t sampled_one_in() const { return sampled_one_in_; }

  uint32_t count() const { return count_; }
  uint32_t track() const { return track_; }
  proto::ChunkKind kind() const { return kind_; }
  uint64_t memory_bytes() const;

  // All rows, encoded, by their ends; to be written before the next Append. The buffer is empty.
  ChunkBuilder* Encode();
  // They have been written: of few rows what encoded them is given back. It takes more room than
  // they do, and there may be a buffer for each of many streams.
  void RowsAreWritten();
  // Of an empty buffer: all that it kept for rows to come, which nothing depends on: the spans of a
  // chunk are foreseen from those before them in it.
  void GiveMemoryBack();

 private:
  const uint64_t* Row(uint32_t index) const { return &rows_[uint64_t{index} * columns_]; }
  // Its place, all of which is to be written.
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
  size_t used_ = 0, room_ = 0;  // of rows_, in values
  // Time since the earliest row << 32 | index, as long as all times fit; else the index alone.
  std::vector<uint64_t> order_;
  std::vector<uint64_t> sorted_;
  std::unique_ptr<ChunkBuilder> builder_;  // from the first chunk on, until it is given back
};

}  // namespace gpuprof::codec
