// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See table_batches.h.

#include "analysis/arrow/table_batches.h"

#include <cstring>
#include <utility>

#include "analysis/arrow/event_batches.h"
#include "analysis/base/parallel.h"

namespace gpuprof::analysis::arrow {
namespace {

constexpr size_t kBatchRows = size_t{1} << 20;      // at least
constexpr uint64_t kTextBytes = uint64_t{1} << 30;  // of one column of a batch

bool IsOfTexts(const QueryColumn& column) { return column.names == "names"; }

const char* FormatOf(ValueType type) {
  switch (type) {
    case ValueType::kBoolean:
      return "b";
    case ValueType::kSigned:
      return "l";
    case ValueType::kUnsigned:
      return "L";
    case ValueType::kId:
      return "I";
    case ValueType::kReal:
      return "g";
    case ValueType::kText:
      return "u";
  }
  return "u";
}

bool HasDictionary(const QueryColumn& column, bool is_of_events) {
  return is_of_events && (column.type == ValueType::kText || IsOfTexts(column));
}

// Takes rows that nobody looks at.
class NoChunk : public QueryChunk {
 public:
  void SetNull(size_t, size_t) override {}

 protected:
  void* Data(size_t) override { return values_; }

 private:
  duckdb::Text values_[kRows];  // the largest type
};

// Reads the last row of each track. From then on, blocks that come into memory are decoded for all
// columns of the scan at once: dictionaries need one of them, and the rows need the others.
void ReadLastRows(TableScan* scan, const std::vector<TableScan::Share>& shares, int threads) {
  std::vector<TableScan::Share> last;
  for (size_t i = 0; i < shares.size(); ++i) {
    const bool is_last = i + 1 == shares.size() || shares[i + 1].row == 0;
    if (!is_last || shares[i].row == shares[i].end) continue;
    last.push_back(shares[i]);
    last.back().row = last.back().end - 1;
  }
  ParallelFor(last.size(), threads, [&](size_t index, int) {
    const auto chunk = std::make_unique<NoChunk>();
    scan->Next(&last[index], chunk.get());
  });
}

class TableBatches : public ArraySource {
 public:
  TableBatches(QueryTable* table, bool is_of_events, std::vector<size_t> columns, Reading reading)
      : reading_(std::move(reading)),
        table_(table),
        columns_(std::move(columns)),
        field_(FieldOf(*table, is_of_events, columns_)) {}

  const Field& field() const override { return field_; }
  Error NextArray(std::shared_ptr<const Array>* batch) override {
    batch->reset();
    if (Error error = Read(batch)) return error;
    return reading_.check();
  }

 protected:
  virtual Error Read(std::shared_ptr<const Array>* batch) = 0;

  Reading reading_;
  QueryTable* table_;
  std::vector<size_t> columns_;
  std::unique_ptr<TableScan> scan_;

 private:
  Field field_;
};

class EventBatches : public TableBatches {
 public:
  EventBatches(QueryTable* table, std::vector<size_t> columns, Reading reading)
      : TableBatches(table, true, std::move(columns), std::move(reading)) {
    reading_.threads = ThreadCount(reading_.threads);
  }

 private:
  Error Read(std::shared_ptr<const Array>* batch) override {
    if (scan_ == nullptr) {
      if (Error error = Begin()) return error;
    }
    std::vector<TableScan::Share> shares;
    for (size_t rows = 0; rows < kBatchRows && next_ < shares_.size(); ++next_) {
      rows += shares_[next_].end - shares_[next_].row;
      shares.push_back(shares_[next_]);
    }
    if (shares.empty()) return {};
    *batch = MakeEventBatch(scan_.get(), shares, reading_.threads, &made_);
    return {};
  }

  Error Begin() {
    if (Error error = table_->Begin(columns_, &scan_)) return error;
    shares_ = scan_->Shares();
    ReadLastRows(scan_.get(), shares_, reading_.threads);
    for (const size_t place : columns_) {
      const QueryColumn& column = table_->columns()[place];
      made_.emplace_back(column.type, HasDictionary(column, true));
      if (!made_.back().has_dictionary()) continue;
      std::shared_ptr<const Dictionary> dictionary;
      if (Error error = reading_.dictionary(place, &dictionary)) {
        scan_.reset();
        return error;
      }
      made_.back().SetDictionary(std::move(dictionary));
    }
    return {};
  }

  std::vector<EventColumn> made_;
  std::vector<TableScan::Share> shares_;
  size_t next_ = 0;
};

// A column of a small table, as it grows.
class RowColumn : public QueryChunk {
 public:
  explicit RowColumn(ValueType type) : type_(type) {}

  void SetNull(size_t, size_t row) override { is_null_[row] = 1; }
  // Takes the rows that were filled in.
  void Settle(size_t rows) {
    if (type_ == ValueType::kText) {
      const auto* const texts = reinterpret_cast<const duckdb::Text*>(chunk_);
      for (size_t i = 0; i < rows; ++i) {
        if (is_null_[i] == 0) bytes_ += TextOf(texts[i]);
        ends_.push_back(static_cast<int32_t>(bytes_.size()));
      }
    } else {
      bytes_.append(reinterpret_cast<const char*>(chunk_), rows * width());
    }
    nulls_.append(reinterpret_cast<const char*>(is_null_), rows);
    std::memset(is_null_, 0, rows);
  }
  bool IsFull() const { return type_ == ValueType::kText && bytes_.size() > kTextBytes; }

  std::shared_ptr<const Array> Take() {
    auto array = std::make_shared<Array>();
    const size_t rows = nulls_.size();
    array->length = static_cast<int64_t>(rows);
    size_t nulls = 0;
    Buffer validity = PackBits(reinterpret_cast<const uint8_t*>(nulls_.data()), rows, &nulls);
    for (size_t i = 0; i < (rows + 7) / 8; ++i) validity[i] = static_cast<uint8_t>(~validity[i]);
    array->null_count = static_cast<int64_t>(nulls);
    if (nulls == 0) validity = nullptr;
    array->buffer_bytes = {validity != nullptr ? (rows + 7) / 8 : 0};
    array->buffers = {std::move(validity)};
    if (type_ == ValueType::kText) Push(ends_.data(), ends_.size() * sizeof ends_[0], array.get());
    if (type_ == ValueType::kBoolean) {
      size_t set = 0;
      array->buffers.push_back(
          PackBits(reinterpret_cast<const uint8_t*>(bytes_.data()), rows, &set));
      array->buffer_bytes.push_back((rows + 7) / 8);
    } else {
      Push(bytes_.data(), bytes_.size(), array.get());
    }
    bytes_.clear();
    nulls_.clear();
    ends_.assign(1, 0);
    return array;
  }

 protected:
  void* Data(size_t) override { return chunk_; }

 private:
  size_t width() const {
    if (type_ == ValueType::kBoolean) return 1;
    return type_ == ValueType::kId ? sizeof(uint32_t) : sizeof(uint64_t);
  }
  static void Push(const void* from, size_t bytes, Array* array) {
    Buffer buffer = NewBuffer(bytes);
    if (bytes != 0) std::memcpy(buffer.get(), from, bytes);
    array->buffers.push_back(std::move(buffer));
    array->buffer_bytes.push_back(bytes);
  }

  ValueType type_;
  alignas(duckdb::Text) uint8_t chunk_[kRows * sizeof(duckdb::Text)];
  uint8_t is_null_[kRows] = {};
  std::string bytes_, nulls_;
  std::vector<int32_t> ends_{0};
};

// All columns of a chunk.
class RowChunk : public QueryChunk {
 public:
  explicit RowChunk(std::vector<std::unique_ptr<RowColumn>>* columns) : columns_(*columns) {}
  void SetNull(size_t place, size_t row) override { columns_[place]->SetNull(0, row); }

 protected:
  void* Data(size_t place) override { return columns_[place]->Values<void>(0); }

 private:
  std::vector<std::unique_ptr<RowColumn>>& columns_;
};

// A table whose rows come one after the other.
class RowBatches : public TableBatches {
 public:
  RowBatches(QueryTable* table, std::vector<size_t> columns, Reading reading)
      : TableBatches(table, false, std::move(columns), std::move(reading)) {
    for (const size_t place : columns_)
      made_.push_back(std::make_unique<RowColumn>(table_->columns()[place].type));
  }

 private:
  Error Read(std::shared_ptr<const Array>* batch) override {
    if (scan_ == nullptr) {
      if (Error error = table_->Begin(columns_, &scan_)) return error;
    }
    size_t rows = 0;
    bool is_full = false;
    RowChunk chunk(&made_);
    while (rows < kBatchRows && !is_full) {
      const size_t count = scan_->Next(&share_, &chunk);
      if (count == 0) break;
      rows += count;
      for (const std::unique_ptr<RowColumn>& column : made_) {
        column->Settle(count);
        is_full |= column->IsFull();
      }
    }
    if (rows == 0) return {};
    auto array = std::make_shared<Array>();
    array->length = static_cast<int64_t>(rows);
    array->buffers = {nullptr};
    array->buffer_bytes = {0};
    for (const std::unique_ptr<RowColumn>& column : made_)
      array->children.push_back(column->Take());
    *batch = std::move(array);
    return {};
  }

  std::vector<std::unique_ptr<RowColumn>> made_;
  TableScan::Share share_;
};

}  // namespace

std::string ArrowName(const QueryColumn& column) {
  constexpr size_t kEnding = 3;  // "_id"
  return IsOfTexts(column) ? column.name.substr(0, column.name.size() - kEnding) : column.name;
}

Field FieldOf(const QueryTable& table, bool is_of_events, const std::vector<size_t>& columns) {
  Field field{.format = "+s", .is_nullable = false, .metadata = {{"rows", table.meaning()}}};
  for (const size_t place : columns) {
    const QueryColumn& column = table.columns()[place];
    Field& child = field.children.emplace_back();
    child.name = ArrowName(column);
    child.has_dictionary = HasDictionary(column, is_of_events);
    child.format = std::string(child.has_dictionary ? "i" : FormatOf(column.type));
    if (!column.unit.empty()) child.metadata = {{"unit", column.unit}};
  }
  return field;
}

std::unique_ptr<ArraySource> MakeTableBatches(QueryTable* table, bool is_of_events,
                                              std::vector<size_t> columns, Reading reading) {
  if (is_of_events)
    return std::make_unique<EventBatches>(table, std::move(columns), std::move(reading));
  return std::make_unique<RowBatches>(table, std::move(columns), std::move(reading));
}

}  // namespace gpuprof::analysis::arrow
