// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// SQL over the tables of a trace and the results of passes: what the launcher includes. One thread
// at a time.

#pragma once

#include <memory>
#include <string>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

struct QueryOptions {
  std::string library;  // libduckdb.so; empty: it is looked for
  int threads = 0;      // 0: as many as cores
  Format format = Format::kText;
  uint32_t limit = 0;  // rows of text; 0: all
  int width = 0;       // of text; 0: any
  PassOptions pass;    // of results that a query reads
};

// Runs one SELECT, and prints its rows: `gpuprof query`. `sql` empty: prints the columns of all
// tables. Rows of JSON and CSV are printed as they come, also before an error.
Error Query(std::shared_ptr<const Trace> trace, const std::string& sql, const QueryOptions& options,
            Sink sink, void* context);

}  // namespace gpuprof::analysis
