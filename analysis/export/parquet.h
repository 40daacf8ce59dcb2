// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the tables of a trace as Parquet, by DuckDB's library: `gpuprof export -f parquet`.

#pragma once

#include "analysis/analysis.h"

namespace gpuprof::analysis {

// Writes a folder for each job, host and rank: "job=J/host=H/rank=R/kernels.parquet". Each has a
// file for each table with rows. The rows are in the order of steps, then of time. Names stand as
// texts. Results of passes are of the whole recording: "job=J/stats.kernels.parquet". Parts of
// paths are escaped as Hive does.
//
// A file goes through a temporary file without a name in TMPDIR, or /tmp. The library is that of
// OpenQueryLibrary(), or is looked for.
Error ExportParquet(const Trace& trace, const ExportOptions& options, FileSink sink, void* context,
                    ExportReport* report);

}  // namespace gpuprof::analysis
