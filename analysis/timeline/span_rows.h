// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the rows of one track of the timeline: of several tables, one behind the other. A row of
// the track has a number, by which pages name its event. The columns stay where they are.
//
// One thread. The tables must outlive it.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/base/column.h"
#include "analysis/timeline/names.h"
#include "proto/table_spec.h"

namespace gpuprof::analysis::timeline {

// The rows of one table of one of the process's tracks. Times are nanoseconds.
struct RowTable {
  proto::ChunkKind kind{};
  uint32_t track = 0;      // index in Process::tracks
  uint32_t first_row = 0;  // number of its first row in the timeline's track
  uint32_t rows = 0;
  const Column<int64_t>* end_ns = nullptr;
  const Column<int64_t>* duration_ns = nullptr;
  const Column<uint32_t>* key = nullptr;        // what names a row; null: all have one name
  const Column<uint32_t>* weight = nullptr;     // null: each row stands for itself
  const Column<uint32_t>* operation = nullptr;  // of ranges: some rows only give names
  KeyNames* names = nullptr;
};

// Times as the page has them: whole numbers in doubles. Those of 104 days are exact.
struct Span {
  double start = 0;
  double end = 0;
  uint32_t name = 0;
  uint32_t row = 0;
  uint32_t weight = 1;
  uint8_t lane = 0;
};

class RowReader {
 public:
  explicit RowReader(const std::vector<RowTable>& tables) : tables_(&tables) {
    parts_.reserve(tables.size());
    for (const RowTable& table : tables) parts_.emplace_back(table);
  }

  // Forgets what was read: blocks of lazy tables may be released then.
  void Forget() {
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i] = Part((*tables_)[i]);
  }

  // Returns the table of a row, which must exist.
  const RowTable& TableOf(uint32_t row) const { return (*tables_)[Find(row)]; }

  // Reads a value of each column. A block of a lazy table gives all columns that were read before:
  // so each block is decoded once, although times are needed before names.
  void TouchColumns() const {
    for (const RowTable& table : *tables_) {
      for (const Column<int64_t>* const times : {table.end_ns, table.duration_ns})
        static_cast<void>(times->front());
      for (const Column<uint32_t>* const values : {table.key, table.weight, table.operation})
        if (values != nullptr) static_cast<void>(values->front());
    }
  }

  int64_t Start(uint32_t row) const {
    const size_t table = Find(row);
    return StartOf(parts_[table], row - (*tables_)[table].first_row);
  }
  int64_t End(uint32_t row) const {
    const size_t table = Find(row);
    return parts_[table].end[row - (*tables_)[table].first_row];
  }
  // Returns whether the row is an event. Some rows of ranges are names of other things.
  bool IsSpan(uint32_t row) const {
    const size_t table = Find(row);
    if ((*tables_)[table].operation == nullptr) return true;
    constexpr uint32_t kLastSpan = 3;  // proto::RangeKind::kMark
    return (parts_[table].operation[row - (*tables_)[table].first_row] & 0xf) <= kLastSpan;
  }
  Span At(uint32_t row) const {
    const size_t number = Find(row);
    const RowTable& table = (*tables_)[number];
    const Part& part = parts_[number];
    const size_t at = row - table.first_row;
    Span span;
    span.end = static_cast<double>(part.end[at]);
    span.start = static_cast<double>(StartOf(part, at));
    span.name = table.names->Of(table.key == nullptr ? 0 : part.key[at]);
    span.row = row;
    if (table.weight != nullptr) span.weight = std::max<uint32_t>(part.weight[at], 1);
    return span;
  }

 private:
  struct Part {
    explicit Part(const RowTable& table) : end(*table.end_ns), duration(*table.duration_ns) {
      if (table.key != nullptr) key = Column<uint32_t>::Reader(*table.key);
      if (table.weight != nullptr) weight = Column<uint32_t>::Reader(*table.weight);
      if (table.operation != nullptr) operation = Column<uint32_t>::Reader(*table.operation);
    }
    Column<int64_t>::Reader end, duration;
    Column<uint32_t>::Reader key, weight, operation;
  };

  // Returns the start. A span during which a clock was set takes no time: its length is not known.
  // Damaged files have any values, so the difference may not fit.
  static int64_t StartOf(const Part& part, size_t at) {
    const int64_t end = part.end[at];
    const auto start =
        static_cast<int64_t>(static_cast<uint64_t>(end) - static_cast<uint64_t>(part.duration[at]));
    return std::min(start, end);
  }

  size_t Find(uint32_t row) const {
    const RowTable& last = (*tables_)[last_];
    if (row - last.first_row < last.rows) return last_;
    const auto after = std::upper_bound(
        tables_->begin(), tables_->end(), row,
        [](uint32_t each, const RowTable& table) { return each < table.first_row; });
    last_ = static_cast<size_t>(after - tables_->begin()) - 1;
    return last_;
  }

  const std::vector<RowTable>* tables_;
  std::vector<Part> parts_;
  mutable size_t last_ = 0;
};

}  // namespace gpuprof::analysis::timeline
