// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads tables of an SQLite database that a stranger may have made. SQLite gets its bytes from
// here: it opens no file, writes nothing and locks nothing. Only ordinary tables are read, each by
// one scan: no code of the database runs. One thread an object.

#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/import/random_bytes.h"

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

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;  // null: the table is not there
  std::string name_;                                   // for errors
  std::array<int8_t, kMostColumns> place_{};           // in the statement; -1: not in the table
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
  std::set<std::string, std::less<>> ColumnsOf(std::string_view table) const;
  static int CountSteps(void* file);

  std::unique_ptr<RandomBytes> bytes_;
  std::string name_, vfs_name_;
  sqlite3_vfs vfs_ = {};
  sqlite3* database_ = nullptr;
  uint64_t steps_left_ = 0;
  std::set<std::string, std::less<>> tables_;
};

}  // namespace gpuprof::analysis::import
