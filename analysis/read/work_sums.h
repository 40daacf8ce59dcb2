// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the work of streams as sums (model/work_summary.h). The files have the sums of some blocks
// (FORMAT.md, "Sums of work"). The rows of the other blocks are summed, and no row is kept.
// Starts threads for the duration of a call.

#pragma once

#include <memory>
#include <vector>

#include "analysis/model/table_set.h"
#include "analysis/read/trace_file.h"

namespace gpuprof::analysis {

// Returns the tables that are read as sums, and the tables that say more about single pieces of
// work. Rows of neither are read with sums.
TableSet SummableTables();

// Returns how many rows these tables have in all files, by the headers of their blocks.
uint64_t CountWork(const std::vector<std::unique_ptr<TraceFile>>& files);

// Fills Track::work of all files. A block that cannot be decoded is a fault of its file and in no
// sum. All files must have been placed, and LoadEvents must have made their tracks.
// With `trusts_sums` blocks whose sums are in the file are not decoded. The result is the same.
void LoadWorkSums(const std::vector<std::unique_ptr<TraceFile>>& files, int threads,
                  bool trusts_sums);

}  // namespace gpuprof::analysis
