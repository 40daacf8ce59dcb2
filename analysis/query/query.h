// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// SQL over the tables of a trace and the results of passes: what the launcher includes. One thread
// at a time.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

struct QueryOptions {
  std::string library;  // libduckdb.so; empty: it is looked for
  int threads = 0;      // 0: as many as cores
  Format format = Format::kText;
  uint32_t limit = 0;  // rows of text; 0: all
  int width = 0;       // of text; 0: any
  PassOptions pass;    // of results that a query reads
  // Prints one JSON object for a page: at most `limit` rows, and how many there are.
  bool for_page = false;
  uint64_t memory_bytes = 0;  // that DuckDB may take for data; 0: as it decides
  double seconds = 0;         // that the query may take; 0: any
  // Called when everything is open, right before the query: no file is opened from then on.
  std::function<void()> before = nullptr;
};

// Runs one SELECT, and prints its rows: `gpuprof query`. `sql` empty: prints the columns of all
// tables. Rows of JSON and CSV are printed as they come, also before an error. A page gets its rows
// at the end.
Error Query(std::shared_ptr<const Trace> trace, const std::string& sql, const QueryOptions& options,
            Sink sink, void* context);

// Returns whether a query may ask results of analyses. Their input is opened without
// OpenOptions::lazy, as other verbs open it: rows that are read later may be damaged, or out of
// order.
bool MayAskResults(std::string_view sql);

// Opens DuckDB's library, for an export that needs it. `path` empty: it is looked for.
Error OpenQueryLibrary(const std::string& path);

// Returns a description of all tables and views: each with its columns, their types and units. The
// tables are made of what describes them, so both are the same. `gpuprof schema` prints it.
std::string QuerySchemaText();
std::string QuerySchemaJson();

}  // namespace gpuprof::analysis
