// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A table of SQL whose rows are made as a whole, when they are first read. For small tables.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/query_table.h"

namespace gpuprof::analysis {

// A value of a row; none: null.
struct Cell {
  bool is_null = true;
  int64_t whole = 0;  // also a boolean, and the bits of unsigned numbers
  double real = 0;
  std::string_view text;

  static Cell Of(int64_t value) { return {false, value, 0, {}}; }
  static Cell Of(double value) { return {false, 0, value, {}}; }
  static Cell Of(std::string_view value) { return {false, 0, 0, value}; }
};

class RowTable : public QueryTable {
 public:
  uint64_t rows() const override;
  Error Begin(const std::vector<size_t>& columns, std::unique_ptr<TableScan>* scan) override;

 protected:
  RowTable(std::string name, std::string meaning)
      : QueryTable(std::move(name), std::move(meaning)) {}

  // Makes all rows by AddRow(). Called once.
  virtual Error Load() = 0;
  // Adds a row with a cell for each column.
  void AddRow(std::vector<Cell> cells) { cells_.push_back(std::move(cells)); }
  // Keeps a text as long as the table lives. Makes it UTF-8.
  std::string_view Keep(std::string_view text);

 private:
  friend class RowScan;

  std::mutex mutex_;
  bool is_loaded_ = false;
  Error error_;
  std::vector<std::vector<Cell>> cells_;
  std::deque<std::string> kept_;
};

}  // namespace gpuprof::analysis
