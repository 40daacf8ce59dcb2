// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Encodes CUPTI's tables. A SpanBuffer has all rows in order before the first is encoded, so this
// code takes some rows at a time, column by column. It asks each question (is there room, does a
// value take one byte) once for many values. One thread at a time; memory comes from operator new;
// nothing is thrown here.

#include <algorithm>
#include <cstring>
#include <utility>

#include "proto/codec/byte_entropy.h"
#include "proto/codec/chunk_builder.h"
#include "proto/codec/rounding_errors.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec {
namespace {

using proto::Encoding;

// So many rows of a chunk decide whether its gaps are predicted.
constexpr uint32_t kJudgedRows = 8192;
constexpr uint32_t kBlockRows = 64;

// A chained table's first columns.
constexpr int kEndColumn = 0, kDurationColumn = 1, kKeyColumn = 2;

constexpr bool ChainsAreWhole() {
  for (const proto::TableSpec& table : proto::kTables) {
    const bool is_chained = table.column[0].encoding == Encoding::kGap;
    if (is_chained && table.feed != proto::Feed::kCupti) return false;
    int values = 0;
    for (int i = 0; i < table.columns; ++i) {
      const Encoding encoding = table.column[i].encoding;
      if ((encoding == Encoding::kGap) != (is_chained && i == 0)) return false;
      if ((encoding == Encoding::kDuration) != (is_chained && i == 1)) return false;
      if (is_chained && i == kKeyColumn && encoding != Encoding::kPlain) return false;
      // Others of CUPTI's are of moments.
      if (encoding == Encoding::kSpan && table.feed == proto::Feed::kCupti) return false;
      values += encoding == Encoding::kKeyed ? 1 : 0;
    }
    if (values > (is_chained ? 1 : 0)) return false;
  }
  return true;
}
static_assert(ChainsAreWhole());

}  // namespace

// Some rows, and their shifted times.
struct ChunkBuilder::Block {
  const uint64_t* const* rows;
  uint32_t count;
  uint64_t start[kBlockRows];
  uint64_t end[kBlockRows];
  uint64_t key[kBlockRows];  // for chained tables
};

void ChunkBuilder::AppendRows(const uint64_t* const* rows, uint32_t count) {
  while (count != 0) {
    uint32_t some = std::min(count, kBlockRows);
    if (count_ < kJudgedRows) some = std::min(some, kJudgedRows - count_);
    AppendBlock(rows, some);
    rows += some;
    count -= some;
  }
}

void ChunkBuilder::AppendBlock(const uint64_t* const* rows, uint32_t count) {
  Block block;
  block.rows = rows;
  block.count = count;
  uint64_t first = ~uint64_t{0}, last = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t end = rows[i][kEndColumn];
    uint64_t start = end;
    if (is_chained_) start = rows[i][kDurationColumn] <= end ? end - rows[i][kDurationColumn] : 0;
    first = std::min(first, start);
    last = std::max(last, end);
    block.start[i] = start >> time_shift_;
    block.end[i] = end >> time_shift_;
  }
  if (count_ == 0) {
    base_time_ = block.start[0];
    column_[kEndColumn].previous = base_time_;
    if (is_chained_) clock_ = SpanClock(base_time_, tick_);
    first_time_ = first;
    last_time_ = last;
  }
  first_time_ = std::min(first_time_, first);
  last_time_ = std::max(last_time_, last);
  if (is_chained_) PutSpans(&block);
  if (sums_ != nullptr) Sum(block);
  for (int column = is_chained_ ? kKeyColumn : 0; column < table_->columns; ++column) {
    PutColumn(column, &block);
  }
  count_ += count;
  if (is_chained_ && count_ == kJudgedRows) JudgeGaps();
}

// Stores the rounding errors of one row; most rows have none (rounding_errors.h).
[[gnu::always_inline]] inline void ChunkBuilder::PutErrors(int64_t start, int64_t end) {
  if (__builtin_expect((start | end) == 0, 1)) {
    ++rows_without_error_;
  } else {
    PutNonzeroErrors(start, end);
  }
}

[[gnu::noinline]] void ChunkBuilder::PutNonzeroErrors(int64_t start, int64_t end) {
  constexpr uint64_t kRoom = 2 * kMaxVarintBytes;
  Column* const errors = &rounding_errors_;
  if (static_cast<uint64_t>(errors->limit - errors->cursor) < kRoom) Grow(errors, kRoom);
  const uint64_t code = RoundingErrors::CodeOf(start, end);
  errors->cursor = PutVarint(errors->cursor, rows_without_error_ * RoundingErrors::kCodes + code);
  if (code == RoundingErrors::kExplicit)
    errors->cursor = PutVarint(errors->cursor, ZigZag(clock_.Joined(start, end)));
  errors->room = errors->limit;  // the column is not empty
  rows_without_error_ = 0;
}

// Stores a chained table's first two columns, and the rounding errors of their times.
void ChunkBuilder::PutSpans(Block* block) {
  const uint32_t count = block->count;
  uint64_t gap[kBlockRows], predicted[kBlockRows], duration[kBlockRows];
  if (tick_.is_exact) {
    uint64_t before = column_[kEndColumn].previous;
    for (uint32_t i = 0; i < count; ++i) {
      gap[i] = exact_tick_.Quotient(block->start[i] - before);
      duration[i] = exact_tick_.Quotient(block->end[i] - block->start[i]);
      before = block->end[i];
    }
    column_[kEndColumn].previous = before;
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      const SpanClock::Step start = clock_.AdvanceTo(block->start[i]);
      const SpanClock::Step end = clock_.AdvanceTo(block->end[i]);
      gap[i] = start.ticks;
      duration[i] = end.ticks;
      PutErrors(start.error, end.error);
    }
  }
  for (uint32_t i = 0; i < count; ++i) block->key[i] = block->rows[i][kKeyColumn];
  history_.Predict(count, block->key, gap, duration, predicted);
  if (gaps_ != Gaps::kPredicted) PutResiduals(&column_[kEndColumn], gap, count);
  if (gaps_ != Gaps::kPlain) PutResiduals(&predicted_gap_, predicted, count);
  PutResiduals(&column_[kDurationColumn], duration, count);
}

void ChunkBuilder::Sum(const Block& block) {
  if (count_ == 0) sums_->Clear();
  const int column = proto::SummedColumn(*table_);
  uint64_t value[kBlockRows];
  for (uint32_t i = 0; column != 0 && i < block.count; ++i) value[i] = block.rows[i][column];
  sums_->Add(block.count, block.key, block.start, block.end, column != 0 ? value : nullptr);
}

void ChunkBuilder::PutColumn(int column, Block* block) {
  const uint32_t count = block->count;
  const Encoding encoding = table_->column[column].encoding;
  uint64_t value[kBlockRows];
  for (uint32_t i = 0; i < count; ++i) value[i] = block->rows[i][column];
  if (encoding == Encoding::kKeyed) {
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t* last = last_.Find(block->rows[i][kKeyColumn]);
      value[i] -= std::exchange(*last, value[i]);
    }
  } else if (encoding != Encoding::kPlain) {
    if (encoding == Encoding::kTime) std::copy_n(block->end, count, value);
    if (encoding == Encoding::kAddress) {
      for (uint32_t i = 0; i < count; ++i) value[i] = value[i] >> 4 | value[i] << 60;
    }
    uint64_t before = column_[column].previous;
    for (uint32_t i = 0; i < count; ++i) value[i] -= std::exchange(before, value[i]);
    column_[column].previous = before;
  }
  PutResiduals(&column_[column], value, count);
}

void ChunkBuilder::PutResiduals(Column* column, uint64_t* residuals, uint32_t count) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < count; ++i) {
    residuals[i] = ZigZag(residuals[i]);
    all |= residuals[i];
  }
  if (all == 0 && !column->any()) return;
  // A column that has been zero so far gets the zeros that it left out.
  const uint64_t zeros = column->any() ? 0 : count_;
  const uint64_t room = zeros + uint64_t{count} * kMaxVarintBytes;
  if (static_cast<uint64_t>(column->limit - column->cursor) < room) Grow(column, room);
  if (zeros != 0) std::memset(column->cursor, 0, zeros);
  uint8_t* at = column->cursor + zeros;
  if (all < 0x80) {
    for (uint32_t i = 0; i < count; ++i) at[i] = static_cast<uint8_t>(residuals[i]);
    at += count;
  } else if (all < 0x4000) {
    // One byte or two, without a branch: a processor cannot predict which.
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t value = residuals[i], more = value >= 0x80 ? 1 : 0;
      at[0] = static_cast<uint8_t>(value | more << 7);
      at[1] = static_cast<uint8_t>(value >> 7);
      at += 1 + more;
    }
  } else if (all < uint64_t{1} << 28) {
    // Up to four, likewise.
    for (uint32_t i = 0; i < count; ++i) {
      const auto value = static_cast<uint32_t>(residuals[i]);
      const uint32_t second = value >> 7 != 0, third = value >> 14 != 0, fourth = value >> 21 != 0;
      const uint32_t coded = (value & 0x7f) | (value << 1 & 0x7f00) | (value << 2 & 0x7f0000) |
                             (value << 3 & 0x7f000000) | second << 7 | third << 15 | fourth << 23;
      std::memcpy(at, &coded, sizeof(coded));
      at += 1 + second + third + fourth;
    }
  } else {
    for (uint32_t i = 0; i < count; ++i) at = PutVarint(at, residuals[i]);
  }
  column->cursor = at;
  column->room = column->limit - kMaxVarintBytes + 1;
}

// Decides which gap column is written, by the size that an entropy coder would reach. The lengths
// of the columns do not show this.
void ChunkBuilder::JudgeGaps() {
  const auto bits = [](const Column& column) {
    return ByteEntropy(column.begin, static_cast<uint64_t>(column.cursor - column.begin));
  };
  gaps_ = bits(predicted_gap_) < bits(column_[kEndColumn]) ? Gaps::kPredicted : Gaps::kPlain;
}

}  // namespace gpuprof::codec
