// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a pass could not look at, because no process recorded it. A figure that is 0 for this reason
// is not the program's.

#pragma once

#include <vector>

#include "analysis/model/table_set.h"
#include "analysis/model/trace.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

// Adds each kind of event that is in `tables` but was recorded in none of the processes, with the
// option that records it. Any thread.
void FillSkipped(const Trace& trace, const std::vector<const Process*>& processes,
                 const TableSet& tables, results::Meta* meta);

}  // namespace gpuprof::analysis
