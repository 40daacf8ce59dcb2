// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tables of SQL that rows of events refer to: texts, processes, threads and streams, stacks.

#pragma once

#include "analysis/query/query_table.h"
#include "analysis/query/trace_names.h"

namespace gpuprof::analysis {

// Adds the tables. `names` and `options` outlive them. Functions in stacks are named by the files
// of programs, as PassOptions says.
void AddLookupTables(const TraceNames& names, const PassOptions& options, QueryTables* tables);

}  // namespace gpuprof::analysis
