// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_batches.h.

#include "analysis/arrow/event_batches.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "analysis/base/parallel.h"

namespace gpuprof::analysis::arrow {
namespace {

// The rows of one column of a batch. They get memory when a value differs.
class BatchColumn {
 public:
  BatchColumn(const EventColumn* column, size_t rows) : column_(column), rows_(rows) {}

  const EventColumn& column() const { return *column_; }
  bool is_spread() const { return values_ != nullptr; }
  // Returns the memory of all values. Any thread.
  uint8_t* Values() {
    std::call_once(values_once_, [&] { values_ = NewBuffer(rows_ * column_->width()); });
    return values_.get();
  }
  // Returns a byte for each row: not 0 if it is null. Any thread.
  uint8_t* Nulls() {
    std::call_once(nulls_once_, [&] {
      nulls_ = NewBuffer(rows_);
      std::memset(nulls_.get(), 0, rows_);
    });
    return nulls_.get();
  }
  std::shared_ptr<const Array> Take() {
    auto array = std::make_shared<Array>();
    array->length = static_cast<int64_t>(rows_);
    Buffer validity;
    if (nulls_ != nullptr) {
      size_t nulls = 0;
      validity = PackBits(nulls_.get(), rows_, &nulls);
      for (size_t i = 0; i < (rows_ + 7) / 8; ++i) validity[i] = static_cast<uint8_t>(~validity[i]);
      array->null_count = static_cast<int64_t>(nulls);
    }
    uint64_t bytes = rows_ * column_->width();
    if (column_->type() == ValueType::kBoolean) {
      size_t set = 0;
      values_ = PackBits(values_.get(), rows_, &set);
      bytes = (rows_ + 7) / 8;
    }
    array->buffers = {std::move(validity), std::move(values_)};
    array->buffer_bytes = {array->buffers[0] != nullptr ? (rows_ + 7) / 8 : 0, bytes};
    if (column_->has_dictionary()) array->dictionary = column_->dictionary()->values();
    return array;
  }

 private:
  const EventColumn* column_;
  size_t rows_;
  std::once_flag values_once_, nulls_once_;
  Buffer values_, nulls_;
};

template <typename T>
bool AreAll(const void* values, size_t count, const RawValue& value) {
  T wanted;
  std::memcpy(static_cast<void*>(&wanted), &value, sizeof wanted);
  const auto* const at = static_cast<const uint8_t*>(values);
  bool differs = false;
  for (size_t i = 0; i < count; ++i) {
    T found;
    std::memcpy(static_cast<void*>(&found), at + i * sizeof found, sizeof found);
    differs |= !(found == wanted);
  }
  return !differs;
}

bool AreAll(const void* values, size_t count, const RawValue& value, size_t width) {
  switch (width) {
    case 1:
      return AreAll<uint8_t>(values, count, value);
    case 4:
      return AreAll<uint32_t>(values, count, value);
    case 8:
      return AreAll<uint64_t>(values, count, value);
    default:
      return AreAll<RawText>(values, count, value);
  }
}

// Returns the number in the dictionary of a value of a chunk.
int32_t PlaceOf(const EventColumn& column, const RawValue& value) {
  return column.type() == ValueType::kText
             ? column.dictionary()->OfText(TextOf(value.text))
             : column.dictionary()->OfNumber(static_cast<uint32_t>(value.bits));
}

// Writes one value into rows of a batch.
void FillRows(const EventColumn& column, const RawValue& value, size_t rows, void* to) {
  if (column.has_dictionary()) {
    std::fill_n(static_cast<int32_t*>(to), rows, PlaceOf(column, value));
  } else if (column.width() == 1) {
    std::memset(to, static_cast<int>(value.bits & 0xFF), rows);
  } else if (column.width() == 4) {
    std::fill_n(static_cast<uint32_t*>(to), rows, static_cast<uint32_t>(value.bits));
  } else {
    std::fill_n(static_cast<uint64_t*>(to), rows, value.bits);
  }
}

// The rows of a share that has one value in a column.
struct SameRows {
  bool is_same = true;
  bool is_null = false;
  RawValue value = {};
};

// What a thread reads a share with.
class ShareChunk : public QueryChunk {
 public:
  ShareChunk(std::vector<std::unique_ptr<BatchColumn>>* columns, size_t offset)
      : columns_(*columns), offset_(offset), states_(columns->size()) {}

  void SetNull(size_t place, size_t row) override {
    State& state = states_[place];
    state.is_null[row] = 1;
    state.has_null = true;
  }
  // Takes the rows that were filled in.
  void Settle(size_t rows) {
    for (size_t place = 0; place < states_.size(); ++place) Settle(place, rows);
    done_ += rows;
  }
  const SameRows& same(size_t place) const { return states_[place].same; }

 protected:
  void* Data(size_t place) override {
    State& state = states_[place];
    const EventColumn& column = columns_[place]->column();
    if (state.same.is_same || !column.IsDirect()) return state.values;
    return RowsAt(place, offset_ + done_);
  }

 private:
  struct State {
    SameRows same;
    bool has_null = false;
    alignas(duckdb::Text) uint8_t values[kRows * sizeof(duckdb::Text)];  // the largest type
    uint8_t is_null[kRows] = {};
    // Texts that were seen lately, and their places.
    RawText seen[64];
    int32_t seen_places[64];
    bool has_seen = false;
  };

  void* RowsAt(size_t place, size_t row) {
    return columns_[place]->Values() + row * columns_[place]->column().width();
  }

  bool StaysSame(State* state, const EventColumn& column, size_t rows) const {
    SameRows& same = state->same;
    if (done_ == 0) {
      same.is_null = state->has_null && state->is_null[0] != 0;
      std::memcpy(&same.value, state->values, column.chunk_width());
    }
    if (same.is_null) return state->has_null && std::memchr(state->is_null, 0, rows) == nullptr;
    return !state->has_null && AreAll(state->values, rows, same.value, column.chunk_width());
  }

  void Settle(size_t place, size_t rows) {
    State& state = states_[place];
    BatchColumn& to = *columns_[place];
    const EventColumn& column = to.column();
    SameRows& same = state.same;
    bool is_written = !same.is_same && column.IsDirect();
    if (same.is_same && !StaysSame(&state, column, rows)) {
      same.is_same = false;
      if (done_ != 0) FillRows(column, same.value, done_, RowsAt(place, offset_));
      if (done_ != 0 && same.is_null) std::memset(to.Nulls() + offset_, 1, done_);
    }
    if (!same.is_same) {
      if (!is_written) Put(&state, column, rows, RowsAt(place, offset_ + done_));
      if (state.has_null) std::memcpy(to.Nulls() + offset_ + done_, state.is_null, rows);
    }
    if (state.has_null) std::memset(state.is_null, 0, rows);
    state.has_null = false;
  }

  // Copies the values of a chunk into a batch.
  static void Put(State* state, const EventColumn& column, size_t rows, void* to) {
    if (!column.has_dictionary()) {
      std::memcpy(to, state->values, rows * column.width());
      return;
    }
    auto* const places = static_cast<int32_t*>(to);
    if (column.type() != ValueType::kText) {
      const auto* const ids = reinterpret_cast<const uint32_t*>(state->values);
      for (size_t i = 0; i < rows; ++i) places[i] = column.dictionary()->OfNumber(ids[i]);
      return;
    }
    const auto* const texts = reinterpret_cast<const duckdb::Text*>(state->values);
    for (size_t i = 0; i < rows; ++i) {
      const RawText raw(texts[i]);
      const size_t slot = raw.Hash() % std::size(state->seen);
      if (!state->has_seen || state->seen[slot] != raw || texts[i].length == 0) {
        if (!state->has_seen) std::fill(std::begin(state->seen), std::end(state->seen), RawText());
        state->has_seen = true;
        state->seen[slot] = raw;
        state->seen_places[slot] = column.dictionary()->OfText(TextOf(texts[i]));
      }
      places[i] = state->seen_places[slot];
    }
  }

  std::vector<std::unique_ptr<BatchColumn>>& columns_;
  size_t offset_;
  size_t done_ = 0;
  std::vector<State> states_;
};

// What a share leaves behind.
struct ReadShare {
  size_t offset = 0, rows = 0;
  std::vector<SameRows> same;  // by column
};

// Returns the array of a column whose shares have been read.
std::shared_ptr<const Array> ArrayOf(EventColumn* column, BatchColumn* rows, size_t place,
                                     const std::vector<ReadShare>& shares, size_t count) {
  const SameRows& first = shares.front().same[place];
  bool is_same = !rows->is_spread();
  for (const ReadShare& share : shares) {
    const SameRows& same = share.same[place];
    is_same = is_same && same.is_null == first.is_null &&
              (same.is_null || AreAll(&same.value, 1, first.value, column->chunk_width()));
  }
  if (is_same) return column->ConstantArray(first.value, first.is_null, count);
  for (const ReadShare& share : shares) {
    const SameRows& same = share.same[place];
    if (!same.is_same) continue;
    FillRows(*column, same.value, share.rows, rows->Values() + share.offset * column->width());
    if (same.is_null) std::memset(rows->Nulls() + share.offset, 1, share.rows);
  }
  return rows->Take();
}

}  // namespace

size_t EventColumn::chunk_width() const {
  switch (type_) {
    case ValueType::kBoolean:
      return 1;
    case ValueType::kId:
      return sizeof(uint32_t);
    case ValueType::kText:
      return sizeof(duckdb::Text);
    default:
      return sizeof(uint64_t);
  }
}

size_t EventColumn::width() const { return has_dictionary_ ? sizeof(int32_t) : chunk_width(); }

std::shared_ptr<const Array> EventColumn::ConstantArray(const RawValue& value, bool is_null,
                                                        size_t rows) {
  const bool is_kept = constant_values_ != nullptr && rows <= constant_rows_ &&
                       is_constant_null_ == is_null &&
                       (is_null || AreAll(&constant_, 1, value, chunk_width()));
  const size_t bits = (rows + 7) / 8;
  if (!is_kept) {
    constant_ = value;
    is_constant_null_ = is_null;
    constant_rows_ = rows;
    constant_nulls_ = nullptr;
    if (is_null) {
      constant_nulls_ = NewBuffer(bits);
      std::memset(constant_nulls_.get(), 0, bits);
    }
    const bool is_boolean = type_ == ValueType::kBoolean;
    constant_values_ = NewBuffer(is_boolean ? bits : rows * width());
    if (is_boolean) {
      std::memset(constant_values_.get(), (value.bits & 0xFF) != 0 && !is_null ? 0xFF : 0, bits);
    } else if (is_null) {
      std::memset(constant_values_.get(), 0, rows * width());
    } else {
      FillRows(*this, value, rows, constant_values_.get());
    }
  }
  auto array = std::make_shared<Array>();
  array->length = static_cast<int64_t>(rows);
  array->null_count = is_null ? static_cast<int64_t>(rows) : 0;
  array->buffers = {constant_nulls_, constant_values_};
  array->buffer_bytes = {is_null ? bits : 0, type_ == ValueType::kBoolean ? bits : rows * width()};
  if (has_dictionary_) array->dictionary = dictionary_->values();
  return array;
}

std::shared_ptr<const Array> MakeEventBatch(TableScan* scan,
                                            const std::vector<TableScan::Share>& shares,
                                            int threads, std::vector<EventColumn>* columns) {
  std::vector<ReadShare> read(shares.size());
  size_t rows = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    read[i].offset = rows;
    read[i].rows = shares[i].end - shares[i].row;
    rows += read[i].rows;
  }
  std::vector<std::unique_ptr<BatchColumn>> places;
  for (const EventColumn& column : *columns)
    places.push_back(std::make_unique<BatchColumn>(&column, rows));
  ParallelFor(shares.size(), threads, [&](size_t index, int) {
    TableScan::Share share = shares[index];
    const auto chunk = std::make_unique<ShareChunk>(&places, read[index].offset);
    while (share.row < share.end) chunk->Settle(scan->Next(&share, chunk.get()));
    for (size_t place = 0; place < places.size(); ++place)
      read[index].same.push_back(chunk->same(place));
  });
  auto made = std::make_shared<Array>();
  made->length = static_cast<int64_t>(rows);
  made->buffers = {nullptr};
  made->buffer_bytes = {0};
  made->children.resize(places.size());
  ParallelFor(places.size(), threads, [&](size_t place, int) {
    made->children[place] = ArrayOf(&(*columns)[place], places[place].get(), place, read, rows);
  });
  return made;
}

}  // namespace gpuprof::analysis::arrow
