// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/query/row_table.h"

#include <algorithm>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {

// Reads the rows with one thread: they are few.
class RowScan : public TableScan {
 public:
  RowScan(const RowTable& table, std::vector<size_t> columns)
      : table_(table), columns_(std::move(columns)) {}

  size_t Next(Share*, QueryChunk* chunk) override {
    const size_t count = std::min(QueryChunk::kRows, table_.cells_.size() - row_);
    for (size_t place = 0; place < columns_.size(); ++place) {
      const ValueType type = table_.columns()[columns_[place]].type;
      for (size_t i = 0; i < count; ++i) {
        const Cell& cell = table_.cells_[row_ + i][columns_[place]];
        Put(type, cell, place, i, chunk);
        if (cell.is_null) chunk->SetNull(place, i);
      }
    }
    row_ += count;
    return count;
  }

 private:
  static void Put(ValueType type, const Cell& cell, size_t place, size_t row, QueryChunk* chunk) {
    switch (type) {
      case ValueType::kBoolean:
        chunk->Values<bool>(place)[row] = cell.whole != 0;
        return;
      case ValueType::kSigned:
      case ValueType::kUnsigned:
        chunk->Values<int64_t>(place)[row] = cell.whole;
        return;
      case ValueType::kId:
        chunk->Values<uint32_t>(place)[row] = static_cast<uint32_t>(cell.whole);
        return;
      case ValueType::kReal:
        chunk->Values<double>(place)[row] = cell.real;
        return;
      case ValueType::kText:
        chunk->Values<duckdb::Text>(place)[row] = TextValue(cell.text);
    }
  }

  const RowTable& table_;
  std::vector<size_t> columns_;
  size_t row_ = 0;
};

uint64_t RowTable::rows() const { return cells_.size(); }

Error RowTable::Begin(const std::vector<size_t>& columns, std::unique_ptr<TableScan>* scan) {
  const std::lock_guard lock(mutex_);
  if (!is_loaded_) error_ = Load();
  is_loaded_ = true;
  if (error_) return error_;
  *scan = std::make_unique<RowScan>(*this, columns);
  return {};
}

std::string_view RowTable::Keep(std::string_view text) { return kept_.emplace_back(Utf8Of(text)); }

}  // namespace gpuprof::analysis
