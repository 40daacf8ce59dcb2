// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The drain's hot path: the row code of each table of the rings is generated from proto/schema.h,
// so that encodings are decided when this is compiled and not per value. CUPTI's tables are in
// chunk_rows.cc. One thread at a time; memory comes from operator new; nothing is thrown here.

#include "proto/codec/chunk_builder.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "proto/codec/tables.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;
using proto::Encoding;

// A column's first buffer, and what a column may keep once its chunk is finished.
constexpr uint64_t kFirstBytes = 512;
constexpr uint64_t kKeptBytes = 8192;

// Column with the span's duration; 0: the table's rows are moments (column 0 is always the time).
constexpr int SpanColumn(int table) {
  for (int i = 0; i < proto::kTables[table].columns; ++i) {
    const Encoding encoding = proto::kTables[table].column[i].encoding;
    if (encoding == Encoding::kSpan) return i;
  }
  return 0;
}

constexpr bool IsByRow(int table) { return proto::kTables[table].feed != proto::Feed::kCupti; }

}  // namespace

ChunkBuilder::~ChunkBuilder() {
  for (Column& column : column_) ::operator delete(column.begin);
  ::operator delete(rounding_errors_.begin);
  ::operator delete(predicted_gap_.begin);
}

void ChunkBuilder::Grow(Column* column, uint64_t room) {
  const uint64_t used = static_cast<uint64_t>(column->cursor - column->begin);
  uint64_t bytes = static_cast<uint64_t>(column->limit - column->begin) * 2;
  if (bytes < kFirstBytes) bytes = kFirstBytes;
  while (bytes < used + room) bytes *= 2;
  uint8_t* grown = static_cast<uint8_t*>(::operator new(bytes));
  if (used != 0) std::memcpy(grown, column->begin, used);
  ::operator delete(column->begin);
  column->begin = grown;
  column->cursor = grown + used;
  column->limit = grown + bytes;
}

// Makes the room; a column that has been zero so far gets the zeros that it left out.
void ChunkBuilder::PutSlowly(Column* column, uint64_t coded) {
  const uint64_t zeros = column->any() ? 0 : count_;
  if (static_cast<uint64_t>(column->limit - column->cursor) < zeros + kMaxVarintBytes)
    Grow(column, zeros + kMaxVarintBytes);
  if (zeros != 0) std::memset(column->cursor, 0, zeros);
  column->cursor = PutVarint(column->cursor + zeros, coded);
  column->room = column->limit - kMaxVarintBytes + 1;
}

// In place, as it is all that most values of most columns take.
[[gnu::always_inline]] inline void ChunkBuilder::PutResidual(Column* column, uint64_t residual) {
  const uint64_t coded = ZigZag(residual);
  if (__builtin_expect(column->cursor < column->room, 1)) {
    column->cursor = PutVarint(column->cursor, coded);
  } else if (coded != 0 || column->any()) {
    PutSlowly(column, coded);
  }
}

// A row's shifted times.
struct ChunkBuilder::Place {
  uint64_t end;
  uint64_t start;
};

template <Encoding kEncoding>
inline void ChunkBuilder::PutValue(Column* column, uint64_t value, const Place& place) {
  if constexpr (kEncoding == Encoding::kPlain) {
    PutResidual(column, value);
  } else if constexpr (kEncoding == Encoding::kSpan) {
    PutResidual(column, place.end - place.start);
  } else {
    if constexpr (kEncoding == Encoding::kTime) value = place.end;
    if constexpr (kEncoding == Encoding::kAddress) value = value >> 4 | value << 60;
    const uint64_t residual = value - column->previous;
    column->previous = value;
    PutResidual(column, residual);
  }
}

template <int kTable>
inline void ChunkBuilder::AppendRow(const uint64_t* row, uint64_t start) {
  static_assert(IsByRow(kTable));
  constexpr int kSpan = SpanColumn(kTable);
  const uint64_t end = row[0];
  uint64_t span_start = end;
  if constexpr (kSpan != 0) {
    span_start = row[kSpan] <= end ? end - row[kSpan] : 0;
    if (span_start < start) start = span_start;
  }
  if (start > end) start = end;
  const Place place = {end >> time_shift_, span_start >> time_shift_};
  if (count_ == 0) {
    base_time_ = place.end;
    column_[0].previous = base_time_;
    first_time_ = start;
    last_time_ = end;
  }
  if (start < first_time_) first_time_ = start;
  if (end > last_time_) last_time_ = end;
  const auto put = [&]<int... kColumn>(std::integer_sequence<int, kColumn...>) {
    (PutValue<proto::kTables[kTable].column[kColumn].encoding>(&column_[kColumn], row[kColumn],
                                                               place),
     ...);
  };
  put(std::make_integer_sequence<int, proto::kTables[kTable].columns>());
  ++count_;
}

void ChunkBuilder::AppendOne(const uint64_t* row, uint64_t start) {
  AppendRows(&row, 1);
  if (start < first_time_) first_time_ = start;
}

void ChunkBuilder::AppendShort(std::span<const uint64_t> row, uint64_t start) {
  uint64_t whole[proto::kWidestTable] = {};
  std::copy(row.begin(), row.end(), whole);
  append_(this, whole, start);
}

// Returns the row code of a kind; of a kind without rows it does nothing.
template <int kTable>
ChunkBuilder::AppendFunction ChunkBuilder::FindAppend(ChunkKind kind) {
  if constexpr (kTable == static_cast<int>(std::size(proto::kTables))) {
    return [](ChunkBuilder*, const uint64_t*, uint64_t) {};
  } else {
    if (proto::kTables[kTable].kind != kind) return FindAppend<kTable + 1>(kind);
    return [](ChunkBuilder* builder, const uint64_t* row, uint64_t start) {
      if constexpr (IsByRow(kTable)) {
        builder->AppendRow<kTable>(row, start);
      } else {
        builder->AppendOne(row, start);
      }
    };
  }
}

ChunkBuilder::ChunkBuilder(ChunkKind kind, uint32_t track, uint32_t time_shift)
    : kind_(kind),
      track_(track),
      time_shift_(time_shift),
      table_(proto::FindTable(kind)),
      columns_(table_ == nullptr ? 0 : static_cast<size_t>(table_->columns)),
      append_(FindAppend<0>(kind)),
      is_chained_(table_ != nullptr && table_->column[0].encoding == Encoding::kGap) {
  // Rounded times would have other sums than the rows.
  if (proto::IsSummedWork(kind) && time_shift == 0) sums_ = std::make_unique<SpanSums>();
}

uint64_t ChunkBuilder::memory_bytes() const {
  uint64_t bytes = sizeof(*this) + last_.memory_bytes() + history_.memory_bytes() +
                   (sums_ != nullptr ? sums_->memory_bytes() : 0);
  const auto add = [&bytes](const Column& column) {
    bytes += static_cast<uint64_t>(column.limit - column.begin);
  };
  for (const Column& column : column_) add(column);
  add(rounding_errors_);
  add(predicted_gap_);
  return bytes;
}

void ChunkBuilder::Empty(Column* column) {
  if (static_cast<uint64_t>(column->limit - column->begin) > kKeptBytes) {
    ::operator delete(column->begin);
    column->begin = column->limit = nullptr;
  }
  column->cursor = column->begin;
  column->room = nullptr;
  column->previous = 0;
}

void ChunkBuilder::Reset() {
  count_ = 0;
  dropped_before_ = 0;
  base_time_ = first_time_ = last_time_ = 0;
  sampled_one_in_ = 1;
  for (Column& column : column_) Empty(&column);
  if (!is_chained_) return;
  gaps_ = Gaps::kBoth;
  SetTick(SpanTick());
  last_.Clear();
  history_.Clear();
  Empty(&rounding_errors_);
  rows_without_error_ = 0;
  Empty(&predicted_gap_);
}

void ChunkBuilder::Finish(uint32_t capture, std::vector<uint8_t>* out,
                          std::vector<uint64_t>* seams) {
  PbWriter writer(out);
  const size_t old_seams = seams != nullptr ? seams->size() : 0;
  bool is_first = true;
  if (is_chained_ && gaps_ == Gaps::kBoth) JudgeGaps();
  const Column& gap = gaps_ == Gaps::kPredicted ? predicted_gap_ : column_[0];
  uint64_t columns_bytes = static_cast<uint64_t>(predicted_gap_.cursor - predicted_gap_.begin);
  for (const Column& column : column_) {
    columns_bytes += static_cast<uint64_t>(column.cursor - column.begin);
  }
  columns_bytes += static_cast<uint64_t>(rounding_errors_.cursor - rounding_errors_.begin);
  out->reserve(out->size() + columns_bytes + 160);
  const uint64_t chunk = writer.Begin(chunk_field::kTraceChunk);
  writer.Varint(chunk_field::kKind, static_cast<uint64_t>(kind_));
  writer.Varint(chunk_field::kTrack, track_);
  writer.Fixed64(chunk_field::kBaseTime, base_time_);
  writer.Varint(chunk_field::kCount, count_);
  if (time_shift_ != 0) writer.Varint(chunk_field::kTimeShift, time_shift_);
  if (dropped_before_ != 0) writer.Varint(chunk_field::kDroppedBefore, dropped_before_);
  writer.Varint(chunk_field::kCapture, capture);
  if (tick_.tick != 1) writer.Varint(chunk_field::kTick, tick_.tick);
  if (tick_.fraction != 0) writer.Signed(chunk_field::kTickFraction, tick_.fraction);
  if (gaps_ == Gaps::kPredicted) writer.Varint(chunk_field::kGapsPredicted, 1);
  const auto put = [&](int field, const Column& column) {
    if (!column.any()) return;
    if (seams != nullptr && !is_first) seams->push_back(out->size());
    is_first = false;
    writer.Bytes(field, column.begin, static_cast<uint64_t>(column.cursor - column.begin));
  };
  for (int i = 0; i < table_->columns; ++i) {
    put(proto::kFirstColumnField + i, i == 0 ? gap : column_[i]);
  }
  put(chunk_field::kRoundingErrors, rounding_errors_);
  if (sampled_one_in_ > 1) writer.Varint(chunk_field::kSampledOneIn, sampled_one_in_);
  const uint64_t before = out->size();
  writer.End(chunk);
  // The message's length has come in front of them.
  for (size_t i = old_seams; seams != nullptr && i < seams->size(); ++i) {
    (*seams)[i] += out->size() - before;
  }
  Reset();
}

}  // namespace gpuprof::codec
