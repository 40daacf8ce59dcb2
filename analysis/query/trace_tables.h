// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// All tables of SQL that a trace has. Made once; then as query_table.h says.

#pragma once

#include <memory>
#include <mutex>

#include "analysis/query/database.h"
#include "analysis/query/query_table.h"
#include "analysis/query/trace_names.h"
#include "analysis/query/trace_steps.h"

namespace gpuprof::analysis {

inline constexpr char kMainSchema[] = "main", kStatsSchema[] = "stats";

class TraceTables {
 public:
  TraceTables(std::shared_ptr<const Trace> trace, const PassOptions& options);
  TraceTables(const TraceTables&) = delete;
  TraceTables& operator=(const TraceTables&) = delete;

  const QueryTables& main() const { return main_; }
  const QueryTables& stats() const { return stats_; }
  const TraceNames& names() const { return names_; }
  TraceSteps& steps() { return steps_; }
  // Adds the tables and views to a database.
  Error AddTo(QueryDatabase* database) const;

 private:
  PassOptions options_;
  TraceNames names_;
  std::shared_ptr<Session> session_;
  std::mutex mutex_;  // a session answers one question at a time
  TraceSteps steps_;
  QueryTables main_, stats_;
};

}  // namespace gpuprof::analysis
