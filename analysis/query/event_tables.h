// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A table of SQL for each table of events that a trace can have: kernels, calls, operations, waits.
// The types of columns make it (proto/schema.h). A new table needs no line here.

#pragma once

#include <memory>

#include "analysis/query/query_table.h"
#include "analysis/query/trace_names.h"
#include "analysis/query/trace_steps.h"

namespace gpuprof::analysis {

// Adds the tables. `names` and `steps` outlive them; the trace is that of the names.
void AddEventTables(const TraceNames& names, TraceSteps* steps, QueryTables* tables);

}  // namespace gpuprof::analysis
