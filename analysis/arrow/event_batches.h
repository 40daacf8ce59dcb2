// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One batch of rows of events: shares of rows become arrays, on several threads. A column whose
// rows are all the same takes no memory for each row. See table_batches.h.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "analysis/arrow/arrays.h"
#include "analysis/arrow/dictionary.h"
#include "analysis/query/query_table.h"

namespace gpuprof::analysis::arrow {

// The value of a row as a table fills it in, of any type.
union RawValue {
  uint64_t bits;
  double real;
  duckdb::Text text;
};

// A column that is read, and what all its batches share.
class EventColumn {
 public:
  EventColumn(ValueType type, bool has_dictionary) : type_(type), has_dictionary_(has_dictionary) {}

  ValueType type() const { return type_; }
  bool has_dictionary() const { return has_dictionary_; }
  void SetDictionary(std::shared_ptr<const Dictionary> made) { dictionary_ = std::move(made); }
  const Dictionary* dictionary() const { return dictionary_.get(); }
  // Returns the bytes of a value in a chunk, and in a batch while it is made.
  size_t chunk_width() const;
  size_t width() const;
  // Returns whether a table can write its values into a batch.
  bool IsDirect() const { return !has_dictionary_ && type_ != ValueType::kBoolean; }
  // Returns an array whose rows are all this value. One thread.
  std::shared_ptr<const Array> ConstantArray(const RawValue& value, bool is_null, size_t rows);

 private:
  ValueType type_;
  bool has_dictionary_;
  std::shared_ptr<const Dictionary> dictionary_;
  // The latest constant, for at least so many rows.
  RawValue constant_ = {};
  bool is_constant_null_ = false;
  size_t constant_rows_ = 0;
  Buffer constant_values_, constant_nulls_;
};

// Makes the arrays of the rows of these shares. Throws bad_alloc.
std::shared_ptr<const Array> MakeEventBatch(TableScan* scan,
                                            const std::vector<TableScan::Share>& shares,
                                            int threads, std::vector<EventColumn>* columns);

}  // namespace gpuprof::analysis::arrow
