// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads tables of an SQLite database that a stranger may have made. SQLite gets its bytes from
// here: it opens no file, writes nothing and locks nothing. Only ordinary tables are read, each by
// one scan: no code of the database runs. SQLite tells what tables there are. Their rows are read
// without it, except those of rare tables. One thread an object.

#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/sqlite_table.h"

namespace gpuprof::analysis::import {

// Returns whether a file begins as a database of SQLite.
bool BeginsAsSqlite(std::string_view bytes);

// The rows of one table, in the order of the file. Lives no longer than its database.
class SqliteRows {
 public:
  // Moves to the next row. False: there is no further row, or error() says why not.
  bool Next();
  const Error& error() const { return error_; }
  static constexpr size_t kMostColumns = 64;
  // Returns whether the table has the column.
  bool Has(size_t column) const { return place_[column] >= 0; }

  // Returns a whole number. None: the row has something else, or nothing.
  std::optional<int64_t> Number(size_t column) const {
    if (!Has(column)) return std::nullopt;
    if (table_) return NumberInTable(column);
    // The value is this thread's alone: it may be looked at without a copy.
    sqlite3_value* const value = sqlite3_column_value(statement_.get(), place_[column]);
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
    return type == SQLITE_FLOAT ? WholeOf(sqlite3_value_double(value)) : std::nullopt;
  }
  int64_t NumberOr(size_t column, int64_t otherwise) const {
    return Number(column).value_or(otherwise);
  }
  // Returns a text, valid until the next row. None: the row has no text. The bytes may be any.
  std::optional<std::string_view> Text(size_t column) const;

 private:
  friend class SqliteFile;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  static std::optional<int64_t> WholeOf(double value);
  std::optional<int64_t> NumberInTable(size_t column) const {
    const auto at = static_cast<size_t>(place_[column]);
    switch (table_->TypeOf(at)) {
      case SqliteTable::Type::kInteger:
        return table_->Integer(at);
      case SqliteTable::Type::kReal:
        return WholeOf(table_->Real(at));
      case SqliteTable::Type::kNone:
        // This column is the row's own number, which is stored elsewhere.
        if (place_[column] == row_id_place_) return table_->row_id();
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  std::optional<SqliteTable> table_;  // none: SQLite reads the rows, if there are any
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;  // null: the table is not there
  std::string name_;                                   // for errors
  // In the statement or in stored rows; -1: not in the table.
  std::array<int8_t, kMostColumns> place_{};
  int row_id_place_ = -1;
  Error error_;
};

class SqliteFile {
 public:
  // Opens a database. `name` is for errors. Error: these are not the bytes of a database, or its
  // list of tables is damaged.
  static Result<std::unique_ptr<SqliteFile>> Open(std::unique_ptr<RandomBytes> bytes,
                                                  std::string name);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  // Gives access to the names of the ordinary tables.
  const std::set<std::string, std::less<>>& tables() const { return tables_; }
  bool HasTable(std::string_view name) const { return tables_.find(name) != tables_.end(); }
  bool HasColumn(std::string_view table, std::string_view column) const;
  // Begins to read a table. Columns that it lacks are empty in each row. A table that is not there
  // has no rows.
  SqliteRows Read(std::string_view table, std::span<const std::string_view> columns) const;
  uint64_t bytes() const { return bytes_->size(); }

 private:
  SqliteFile(std::unique_ptr<RandomBytes> bytes, std::string name);
  Error Start();
  Error ListTables();
  Error Failure() const;
  struct Columns {
    std::map<std::string, int, std::less<>> places;  // in stored rows
    int row_id = -1;                                 // the place that stands for the row's number
    bool is_plain = true;  // each row has all columns, and no column is computed
  };
  Columns ColumnsOf(std::string_view table) const;
  // Returns the first page of a table whose rows can be read without SQLite. 0: they cannot.
  uint32_t RootOf(std::string_view table) const;
  static int CountSteps(void* file);

  std::unique_ptr<RandomBytes> bytes_;
  std::string name_, vfs_name_;
  sqlite3_vfs vfs_ = {};
  sqlite3* database_ = nullptr;
  uint64_t steps_left_ = 0;
  std::optional<SqlitePages> pages_;
  std::set<std::string, std::less<>> tables_;
};

}  // namespace gpuprof::analysis::import
