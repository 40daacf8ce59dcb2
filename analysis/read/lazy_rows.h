// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables whose blocks are decoded when somebody first reads their rows (model/row_store.h). A block
// gives those columns that somebody has read of its table since the question began. So a scan of
// three columns decompresses the first block three times, and each other block once.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "analysis/model/row_store.h"
#include "analysis/read/placed_files.h"
#include "analysis/read/trace_file.h"

namespace gpuprof::analysis {

class LazyTable;

class LazyRows : public RowStore {
 public:
  LazyRows();
  ~LazyRows() override;

  // Makes the columns of a table lazy. They must be empty. `blocks`: all of the table, in the order
  // of the file.
  void AddTable(const TraceFile* file, std::vector<PlannedBlock> blocks, Track* track);
  // Keeps the files, which the tables read.
  void Keep(TraceFiles files);

  uint64_t bytes() const override;
  void LetGo(uint64_t most_bytes) override;
  bool IsDamaged() const override;
  TableSet Unordered() const override;

 private:
  friend class LazyTable;
  struct Shared;

  std::shared_ptr<Shared> shared_;
  std::vector<std::shared_ptr<LazyTable>> tables_;
};

}  // namespace gpuprof::analysis
