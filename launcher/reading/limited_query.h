// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// SQL of a stranger, run by a process of this command's own that has limits. The kernel keeps them:
// memory, processor time, no file written, no file opened once the query begins. The caller keeps
// the time on the clock, and ends the process.
//
// DuckDB's own limits give better words, and end most queries first. Any thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "launcher/reading/comparison.h"

namespace gpuprof::launcher {

// The first word of the command line by which the process is started.
inline constexpr char kQueryOrderWord[] = "__query";

struct QueryLimits {
  double seconds = 10;  // of the query itself; opening the recording has as much again
  uint64_t memory_bytes = uint64_t{2} << 30;  // beyond what the open recording has
};

struct LimitedQuery {
  std::string sql;
  QueryLimits limits;
  int threads = 2;
  // One JSON object of at most `most_rows` rows (analysis/query/query.h); otherwise `format`.
  bool for_page = true;
  uint32_t most_rows = 10'000;
  analysis::Format format = analysis::Format::kJson;
  int width = 0;  // of text; 0: any
};

struct QueryOutcome {
  std::string fault;    // a sentence; empty: the query ran
  std::string remarks;  // lines about the recording, such as damaged files
  int exit_status = 0;  // that the command has
};

// Takes a file of DuckDB's library for all queries of this process; empty: it is looked for.
// Returns cause and fix, or "". One thread, before the first query.
std::string UseQueryLibrary(const std::string& file);
// Returns the file as a whole path; empty: it is looked for.
const std::string& GivenQueryLibrary();

// Runs a query and hands on what it prints. `is_wanted` is asked several times a second: if it says
// no, the query ends. Output that comes before a fault is of no use.
QueryOutcome RunLimitedQuery(const PlacedInput& input, const LimitedQuery& query,
                             const std::function<bool()>& is_wanted, analysis::Sink sink,
                             void* context);

// Does the work of the process: the order comes from descriptor 0, rows go to 1, what went wrong
// goes to 2. Returns the exit status.
int CarryOutQueryOrder();

}  // namespace gpuprof::launcher
