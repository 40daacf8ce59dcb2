// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables of SQL for the results of passes: each list of rows in a message of proto/results/. So
// SQL, JSON and pages have the same figures. A new pass needs no line here.

#pragma once

#include <mutex>

#include "analysis/query/query_table.h"

namespace gpuprof::analysis {

// Adds the tables. `session`, `options` and `mutex`, which is the session's, outlive them. A pass
// runs when a query first reads one of its tables.
void AddResultTables(Session* session, const PassOptions& options, std::mutex* mutex,
                     QueryTables* tables);

}  // namespace gpuprof::analysis
