// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A Parquet file with the operations of a job, a row each, as ByteDance-Seed/StragglerAnalysis has
// them: `gpuprof stats stragglers FILE.parquet`. DuckDB's library reads it. One thread at a time.

#pragma once

#include <memory>
#include <string>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

// Returns whether a file begins as Parquet does.
bool IsParquet(const InputPath& path);

// Makes the result of the pass `stragglers`. `library`: libduckdb.so, or empty: it is looked for.
// Only the option `steps` counts.
Error RunOperationTable(const InputPath& path, const std::string& library,
                        const PassOptions& options,
                        std::unique_ptr<google::protobuf::Message>* result);

}  // namespace gpuprof::analysis
