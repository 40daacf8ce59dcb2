// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A table that SQL can read, whatever it is made of: columns by name, type and unit, and rows in
// chunks. Tables outlive the queries about them, and so do all texts in their rows.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/query/duckdb_api.h"

namespace gpuprof::analysis {

enum class ValueType : uint8_t { kBoolean, kSigned, kUnsigned, kId, kReal, kText };

struct QueryColumn {
  std::string name;
  ValueType type = ValueType::kSigned;
  std::string unit = {};  // "ns", "bytes"; empty: none
  // The table that the ids of this column are of: a view adds its text under the name without
  // "_id". Empty: no ids.
  std::string_view names = {};
};

// Returns the name of the text that a column of ids stands for: "name" of "name_id".
inline std::string TextOfId(std::string_view id) {
  return std::string(id.substr(0, id.size() - 3));
}

// Columns of one chunk, for a table to fill: vectors of DuckDB, or what becomes an array of Arrow.
class QueryChunk {
 public:
  // The most rows of a chunk, as DuckDB is compiled.
  static constexpr size_t kRows = 2048;

  virtual ~QueryChunk() = default;

  // Returns the values of a column: bool, int64_t, uint64_t, uint32_t (kId), double, or
  // duckdb::Text. `place`: among the columns that were asked for.
  template <typename T>
  T* Values(size_t place) {
    return static_cast<T*>(Data(place));
  }
  virtual void SetNull(size_t place, size_t row) = 0;

 protected:
  virtual void* Data(size_t place) = 0;
};

// Returns a text for a vector. The bytes stay where they are.
duckdb::Text TextValue(std::string_view text);

// One reading of a table by any number of threads.
class TableScan {
 public:
  // What a thread has taken to read.
  struct Share {
    size_t part = 0, row = 0, end = 0;
  };

  virtual ~TableScan() = default;
  virtual size_t threads() const { return 1; }
  // Returns all shares in the order of the rows: any thread may read one of them by Next() to its
  // end. Empty: the rows come in their order alone.
  virtual std::vector<Share> Shares() const { return {}; }
  // Fills the next rows, at most QueryChunk::kRows. Returns how many; 0: there are no more.
  virtual size_t Next(Share* share, QueryChunk* chunk) = 0;
};

class QueryTable {
 public:
  virtual ~QueryTable() = default;

  const std::string& name() const { return name_; }
  const std::string& meaning() const { return meaning_; }
  const std::vector<QueryColumn>& columns() const { return columns_; }
  // Returns about how many rows the table has, for DuckDB's plans. 0: not known.
  virtual uint64_t rows() const { return 0; }
  // Chooses the processes, by their places in the trace, whose rows the table has from now on. A
  // table that knows no processes keeps its rows. No scan may run meanwhile.
  virtual void Choose(const std::vector<size_t>& processes) { (void)processes; }
  // Returns whether the rows are events: very many, with few different texts.
  virtual bool IsOfEvents() const { return false; }
  // Begins to read these columns, by their places. An error says why the table has no rows.
  virtual Error Begin(const std::vector<size_t>& columns, std::unique_ptr<TableScan>* scan) = 0;

 protected:
  QueryTable(std::string name, std::string meaning)
      : name_(std::move(name)), meaning_(std::move(meaning)) {}

  std::string name_, meaning_;
  std::vector<QueryColumn> columns_;
};

using QueryTables = std::vector<std::unique_ptr<QueryTable>>;

}  // namespace gpuprof::analysis
