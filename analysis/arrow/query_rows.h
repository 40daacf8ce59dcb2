// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rows of a SELECT as arrays of Arrow, which DuckDB makes. They are all in memory, and can be
// read any number of times. They need neither the database nor the recording. Made by one thread,
// then read by any.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/arrow/arrays.h"
#include "analysis/query/database.h"

namespace gpuprof::analysis::arrow {

class QueryRows {
 public:
  // Runs one SELECT. Sums of whole numbers, which DuckDB makes of 128 bits, become int64: a larger
  // one is an error.
  static Error Run(QueryDatabase* database, const std::string& sql,
                   std::shared_ptr<const QueryRows>* rows);

  // Returns the columns and their types.
  const Field& field() const { return field_; }
  uint64_t count() const { return count_; }

 private:
  friend class QueryRowBatches;

  Error Take(QueryDatabase* database, duckdb::Result* result);
  Error TakeSchema(const duckdb::Api& duck, duckdb::Handle how, duckdb::Result* result);

  Field field_;
  uint64_t count_ = 0;
  std::vector<std::shared_ptr<const ArrowArray>> batches_;
};

// Returns the batches of these columns, by their places.
std::unique_ptr<BatchSource> MakeQueryRowBatches(std::shared_ptr<const QueryRows> rows,
                                                 const std::vector<size_t>& columns);

}  // namespace gpuprof::analysis::arrow
