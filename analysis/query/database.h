// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A database of DuckDB in memory, whose tables are those of a trace. It reads columns in place. A
// statement can read tables, and do nothing else: no file, no network, no setting.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/query/query_table.h"
#include "analysis/query/views.h"

namespace gpuprof::analysis {

namespace arrow {
class QueryRows;
}

// A value of a result.
struct QueryValue {
  enum class Kind : uint8_t { kNull, kBoolean, kNumber, kText };
  Kind kind = Kind::kNull;
  std::string text;  // as it is printed
};

// Takes the rows of a result, one after the other.
class QuerySink {
 public:
  virtual ~QuerySink() = default;
  virtual void Begin(const std::vector<std::string>& columns) = 0;
  // Returns false to get no more rows.
  virtual bool Row(const std::vector<QueryValue>& values) = 0;
  // Returns whether rows that it does not get are to be counted.
  virtual bool CountsRest() const { return false; }
  // Takes the number of rows that it did not get, in parts.
  virtual void Rest(uint64_t rows) { (void)rows; }
};

struct DatabaseOptions {
  std::string library = {};   // libduckdb.so; empty: it is looked for
  int threads = 0;            // 0: as many as cores
  uint64_t memory_bytes = 0;  // that DuckDB may take for data; 0: as it decides
  double seconds = 0;         // that Run() may take; 0: any
  bool writes = false;        // Copy() may write files
};

class QueryDatabase {
 public:
  static Error Open(const DatabaseOptions& options, std::unique_ptr<QueryDatabase>* database);
  ~QueryDatabase();
  QueryDatabase(const QueryDatabase&) = delete;
  QueryDatabase& operator=(const QueryDatabase&) = delete;

  // Adds tables to a schema: "main", or "stats". The tables outlive the database.
  Error Add(std::string_view schema, const QueryTables& tables);
  // Adds views over the tables, which all have been added.
  Error AddViews(std::span<const QueryView> views);
  // Forbids everything but reading. Called once, behind the last Add().
  Error Lock();
  // Runs one SELECT. Rows go to the sink as they come: a large result is never held as a whole.
  Error Run(const std::string& sql, QuerySink* sink);
  // Keeps the rows of a SELECT of our own in memory, as a table.
  Error Keep(const std::string& select, const std::string& name);
  // Writes the rows of a SELECT of our own to a file as Parquet. `rows` gets their number.
  Error Copy(const std::string& select, const std::string& path, uint64_t* rows);

 private:
  friend class arrow::QueryRows;  // takes rows as they are

  QueryDatabase(const duckdb::Api* api, double seconds) : api_(api), seconds_(seconds) {}
  Error Execute(const std::string& sql);
  Error Register(const std::string& function, QueryTable* table);
  // Prepares one SELECT, and runs it. The caller destroys the result, also after an error.
  Error Select(const std::string& sql, duckdb::Result* result);
  Error RunAnyTime(const std::string& sql, QuerySink* sink);
  Error RunInTime(const std::string& sql, QuerySink* sink);
  Error Fetch(const std::vector<int>& types, duckdb::Result* result, QuerySink* sink);

  const duckdb::Api* api_;
  const double seconds_;
  duckdb::Handle database_ = nullptr, connection_ = nullptr;
};

}  // namespace gpuprof::analysis
