// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A database of DuckDB in memory, whose tables are those of a trace. It reads columns in place. A
// statement can read tables, and do nothing else: no file, no network, no setting.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/query/query_table.h"

namespace gpuprof::analysis {

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
  // Returns false to get no more.
  virtual bool Row(const std::vector<QueryValue>& values) = 0;
};

class QueryDatabase {
 public:
  // Opens a database. `library`: libduckdb.so, or empty (duckdb::Open()). `threads`, 0: as many as
  // cores.
  static Error Open(const std::string& library, int threads,
                    std::unique_ptr<QueryDatabase>* database);
  ~QueryDatabase();
  QueryDatabase(const QueryDatabase&) = delete;
  QueryDatabase& operator=(const QueryDatabase&) = delete;

  // Adds tables to a schema: "main", or "stats". The tables outlive the database.
  Error Add(std::string_view schema, const QueryTables& tables);
  // Forbids everything but reading. Called once, behind the last Add().
  Error Lock();
  // Runs one SELECT.
  Error Run(const std::string& sql, QuerySink* sink);

 private:
  explicit QueryDatabase(const duckdb::Api* api) : api_(api) {}
  Error Execute(const std::string& sql);
  Error Register(const std::string& function, QueryTable* table);
  // Prepares one SELECT, and runs it. The caller destroys the result, also after an error.
  Error Select(const std::string& sql, duckdb::Result* result);
  Error Fetch(const std::vector<int>& types, duckdb::Result* result, QuerySink* sink);

  const duckdb::Api* api_;
  duckdb::Handle database_ = nullptr, connection_ = nullptr;
};

}  // namespace gpuprof::analysis
