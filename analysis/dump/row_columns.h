// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The columns of one table of a track, whatever their types are: for Dump. One thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "analysis/model/table_columns.h"
#include "analysis/model/trace.h"
#include "proto/schema.h"

namespace gpuprof::analysis {

class RowColumns {
 public:
  // Places of the values that rows have of their block, behind those of the table's columns.
  static constexpr int kCapture = proto::kMaxColumns;
  static constexpr int kWeight = kCapture + 1;

  RowColumns() = default;
  RowColumns(const Track& track, proto::ChunkKind kind) { ReadTable(track, kind, this); }
  // Describes rows whose only column here is the time.
  explicit RowColumns(const Column<int64_t>& times) : rows_(times.size()) { Set(0, times); }

  size_t rows() const { return rows_; }
  bool Has(int column) const { return columns_[static_cast<size_t>(column)].data != nullptr; }
  // Returns a value as 64 bits. Those of columns with a sign are extended.
  uint64_t Value(int column, size_t row) const {
    const Any& any = columns_[static_cast<size_t>(column)];
    return any.load(any.data, row);
  }
  int64_t Time(size_t row) const { return static_cast<int64_t>(Value(0, row)); }

  // Keeps the columns that ReadTable() hands over.
  template <proto::ChunkKind kKind, typename... Columns>
  void Rows(const Column<int64_t>& times, const Columns&... columns) {
    static_assert(1 + sizeof...(columns) == proto::FindTable(kKind)->columns);
    rows_ = times.size();
    Set(0, times);
    int place = 1;
    (Set(place++, columns), ...);
  }
  void Capture(const Column<uint16_t>& column) { Set(kCapture, column); }
  void Weight(const Column<uint32_t>& column) { Set(kWeight, column); }

 private:
  struct Any {
    const void* data = nullptr;
    uint64_t (*load)(const void* data, size_t row) = nullptr;
  };

  template <typename T>
  void Set(int place, const Column<T>& column) {
    columns_[static_cast<size_t>(place)] = {&column, [](const void* data, size_t row) {
                                              const auto& its =
                                                  *static_cast<const Column<T>*>(data);
                                              return static_cast<uint64_t>(its[row]);
                                            }};
  }

  size_t rows_ = 0;
  std::array<Any, kWeight + 1> columns_{};
};

}  // namespace gpuprof::analysis
