// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rows of a trace that stay in its files until somebody reads them (base/column.h, lazy
// columns). Any thread may read. The rest is for one thread, while no other one reads.

#pragma once

#include <cstdint>

#include "analysis/model/table_set.h"

namespace gpuprof::analysis {

class RowStore {
 public:
  virtual ~RowStore() = default;
  // Returns the memory of the rows that came.
  virtual uint64_t bytes() const = 0;
  // Ends a question: rows whose last reading is longest ago go, until the others take `most_bytes`.
  // No caller may keep a reader of a column, or a segment.
  virtual void LetGo(uint64_t most_bytes) = 0;
  // Returns whether rows could not be read. They are all zero, and what was made of them is wrong.
  virtual bool IsDamaged() const = 0;
  // Returns the tables whose rows are out of order. They must be read as a whole, which sorts them.
  virtual TableSet Unordered() const = 0;
};

}  // namespace gpuprof::analysis
