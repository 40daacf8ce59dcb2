// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/query/trace_tables.h"

#include <limits>

#include "analysis/passes/session.h"
#include "analysis/query/event_tables.h"
#include "analysis/query/lookup_tables.h"
#include "analysis/query/result_tables.h"
#include "analysis/query/views.h"

namespace gpuprof::analysis {

TraceTables::TraceTables(std::shared_ptr<const Trace> trace, const PassOptions& options)
    : options_(options),
      names_(*trace),
      // Threads of a query may read rows while a pass ends, so no row is released before the
      // tables.
      session_(std::make_shared<Session>(trace, std::numeric_limits<uint64_t>::max())),
      steps_(session_.get(), options_, &mutex_) {
  AddLookupTables(names_, options_, &main_);
  AddEventTables(names_, &steps_, &main_);
  AddResultTables(session_.get(), options_, &mutex_, &stats_);
}

Error TraceTables::AddTo(QueryDatabase* database) const {
  if (Error error = database->Add(kMainSchema, main_)) return error;
  if (Error error = database->Add(kStatsSchema, stats_)) return error;
  return database->AddViews(QueryViews());
}

}  // namespace gpuprof::analysis
