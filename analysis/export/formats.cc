// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table of exports: a row for each format of `gpuprof export` (analysis.h).

#include "analysis/analysis.h"
#include "analysis/arrow/arrow_export.h"
#include "analysis/export/parquet.h"

namespace gpuprof::analysis {
namespace {

constexpr ExportFormat kFormats[] = {
    {.name = "chrome",
     .meaning = "JSON as torch.profiler writes it, for HolisticTraceAnalysis, Perfetto and "
                "chrome://tracing",
     .output = "the new file, compressed if its name ends in .gz; -: standard output",
     .place = "the file",
     .example = "trace.json.gz",
     .to_file = ExportChrome,
     .of_ranks = "for tools that read one rank a file, export each process with --pid"},
    {.name = "xspace",
     .meaning = "a run of TensorBoard's profile plugin, XProf",
     .output = "TensorBoard's log folder, which may exist",
     .place = "the log folder",
     .example = "logdir",
     .to_folder = ExportXSpace,
     .without_steps = "no steps were found: XProf's pages about steps stay empty"},
    {.name = "parquet",
     .meaning = "a data set of Parquet files for Spark, DuckDB and pandas, a folder for each rank",
     .output = "the folder of the data set, which may exist",
     .place = "the folder",
     .example = "dataset",
     .to_folder = ExportParquet,
     .without_steps = "no steps were found: the column step is empty"},
    {.name = "arrow",
     .meaning = "tables for pandas, polars, pyarrow and DuckDB",
     .output = "the folder of the new files NAME.arrow, one for each table",
     .place = "the folder",
     .example = "tables",
     .to_folder = ExportArrow},
};

}  // namespace

std::span<const ExportFormat> ExportFormats() { return kFormats; }

}  // namespace gpuprof::analysis
