// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Builds one event chunk: rows in, packed varint columns out. Used by the drain thread and by
// recovery, one thread at a time.
//
// Rows are encoded as they arrive, so that a builder holds about 10 bytes a row. No exceptions, no
// iostreams, no std::string: this code is also linked into the preloaded tracer.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "proto/codec/exact_tick.h"
#include "proto/codec/keyed_last.h"
#include "proto/codec/span_clock.h"
#include "proto/codec/span_history.h"
#include "proto/codec/span_sums.h"
#include "proto/schema.h"

namespace gpuprof::codec {

class ChunkBuilder {
 public:
  ChunkBuilder(proto::ChunkKind kind, uint32_t track, uint32_t time_shift);
  ~ChunkBuilder();
  ChunkBuilder(const ChunkBuilder&) = delete;
  ChunkBuilder& operator=(const ChunkBuilder&) = delete;

  // `row` holds the table's columns in schema order as 64-bit values (times and durations in ticks,
  // unshifted). Columns that it does not reach are 0: they came with a later version. `start` is
  // the earliest tick the row covers (a span's start; else its time). A duration that begins before
  // tick 0 is cut there.
  void Append(std::span<const uint64_t> row, uint64_t start) {
    if (row.size() < columns_) [[unlikely]]
      return AppendShort(row, start);
    append_(this, row.data(), start);
  }

  // Appends rows of one of CUPTI's tables. Each starts where its span does.
  void AppendRows(const uint64_t* const* rows, uint32_t count);

  // Sets the clock of the starts and ends, for tables that begin with kGap. If the clock is not
  // exact, all times must lie within kFarthestRounded ns. Call this before the first row; the clock
  // is used until the chunk's end.
  void SetTick(const SpanTick& tick) {
    tick_ = tick;
    exact_tick_ = ExactTick(tick.tick);
  }

  // Sets how many events each row stands for (proto::Chunk). Call this before the first row; the
  // number is used until the chunk's end.
  void SetSampledOneIn(uint32_t one_in) { sampled_one_in_ = one_in; }

  void AddDropped(uint64_t records) { dropped_before_ += records; }

  uint32_t count() const { return count_; }
  uint32_t track() const { return track_; }
  proto::ChunkKind kind() const { return kind_; }
  // Returns whether the columns are long, so that each is worth a block of its own in the frame.
  bool has_long_columns() const {
    return table_->feed == proto::Feed::kCupti || table_->feed == proto::Feed::kImport ||
           kind_ == proto::ChunkKind::kPython;
  }
  uint64_t first_time() const { return first_time_; }
  uint64_t last_time() const { return last_time_; }
  uint64_t dropped_before() const { return dropped_before_; }
  uint32_t sampled_one_in() const { return sampled_one_in_; }
  // Returns the sums of the rows, until the first row of the next chunk; null: they are not summed.
  const SpanSums* sums() const { return sums_.get(); }
  // Returns the memory held, for the recorder's budget.
  uint64_t memory_bytes() const;

  // Appends the serialized Trace{Chunk} message to `out` and starts anew, keeping some buffer
  // memory. To `seams`, if given, the offsets in `out` where one column ends and the next begins.
  void Finish(uint32_t capture, std::vector<uint8_t>* out, std::vector<uint64_t>* seams = nullptr);

 private:
  // Holds the varints of one column. Nothing is stored while every residual is zero.
  struct Column {
    uint8_t* begin = nullptr;
    uint8_t* cursor = nullptr;
    uint8_t* limit = nullptr;
    // A varint that begins before it fits; null while every residual is zero.
    const uint8_t* room = nullptr;
    uint64_t previous = 0;

    bool any() const { return room != nullptr; }
  };

  using AppendFunction = void (*)(ChunkBuilder* builder, const uint64_t* row, uint64_t start);
  template <int kTable>
  static AppendFunction FindAppend(proto::ChunkKind kind);
  template <int kTable>
  void AppendRow(const uint64_t* row, uint64_t start);
  void AppendOne(const uint64_t* row, uint64_t start);
  void AppendShort(std::span<const uint64_t> row, uint64_t start);
  struct Place;
  struct Block;
  void AppendBlock(const uint64_t* const* rows, uint32_t count);
  void PutSpans(Block* block);
  void PutErrors(int64_t start, int64_t end);
  void PutNonzeroErrors(int64_t start, int64_t end);
  void Sum(const Block& block);
  void PutColumn(int column, Block* block);
  void PutResiduals(Column* column, uint64_t* residuals, uint32_t count);
  void JudgeGaps();
  template <proto::Encoding kEncoding>
  void PutValue(Column* column, uint64_t value, const Place& place);
  void PutResidual(Column* column, uint64_t residual);
  void PutSlowly(Column* column, uint64_t coded);
  static void Grow(Column* column, uint64_t room);
  static void Empty(Column* column);
  void Reset();

  proto::ChunkKind kind_;
  uint32_t track_;
  uint32_t time_shift_;
  const proto::TableSpec* table_;
  size_t columns_;
  AppendFunction append_;
  bool is_chained_;
  uint32_t count_ = 0;
  uint64_t base_time_ = 0;
  uint64_t first_time_ = 0;
  uint64_t last_time_ = 0;
  uint64_t dropped_before_ = 0;
  uint32_t sampled_one_in_ = 1;
  Column column_[proto::kWidestTable];

  // For chained tables.
  SpanTick tick_;
  ExactTick exact_tick_;
  SpanClock clock_;
  SpanHistory history_;
  KeyedLast last_;
  Column rounding_errors_;
  uint64_t rows_without_error_ = 0;  // since the last row with one
  Column predicted_gap_;             // replaces column 0 if it is shorter
  // Which of the two gap columns are built: both, until enough rows have decided for one.
  enum class Gaps : uint8_t { kBoth, kPlain, kPredicted };
  Gaps gaps_ = Gaps::kBoth;
  std::unique_ptr<SpanSums> sums_;  // null: not of this table
};

}  // namespace gpuprof::codec
