// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table `range_values` of SQL: values of extended payloads of NVTX, and what NCCL reported. The
// reader makes them of the bytes in a trace, so proto/schema.h does not describe them.

#pragma once

#include <memory>

#include "analysis/query/query_table.h"
#include "analysis/query/trace_names.h"

namespace gpuprof::analysis {

// Makes the table. `names` outlive it.
std::unique_ptr<QueryTable> MakeRangeValueTable(const TraceNames& names);

}  // namespace gpuprof::analysis
