// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof query`: SQL over the tables of a recording and the results of passes.

#include <algorithm>
#include <string_view>

#include "analysis/query/query.h"
#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/command.h"
#include "launcher/reading/limited_query.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

constexpr uint32_t kMostRows = 100;
// Limits that are none, for the option that is not given.
constexpr double kLongestSeconds = 1e6;
constexpr uint64_t kMostBytes = uint64_t{1} << 46;

std::string CheckDuration(std::string_view text) {
  uint64_t nanoseconds = 0;
  std::string fault = ParseDuration(text, &nanoseconds);
  if (fault.empty() && nanoseconds == 0) fault = "a time limit is longer than 0";
  return fault;
}

std::string CheckSize(std::string_view text) {
  uint64_t bytes = 0;
  return ParseSize(text, &bytes);
}

// Says lines that a process said with the command's name before each.
void SayLines(std::string_view text) {
  constexpr std::string_view kName = "gpuprof: ";
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(kName)) line.remove_prefix(kName.size());
    if (!line.empty()) Say(std::string(line));
  }
}

class Query : public Verb {
 public:
  void Declare(Options* options) override {
    width_ = static_cast<uint32_t>(TerminalWidth());
    options->Positional("BUNDLE", &bundle_,
                        "A bundle directory, a .gpt file, or a trace of torch.profiler, "
                        "TensorFlow, JAX or Nsight Systems");
    options->Positional("SQL", &sql_, "One SELECT; without it, the columns of all tables",
                        /*required=*/false);
    options->Flag("--json", &json_, "Print JSON: an array with an object for each row");
    options->Flag("--csv", &csv_, "Print CSV");
    options->Number("--limit", &limit_, "N", "Largest number of rows in a text table; 0: all");
    options->Number("--width", &width_, "COLUMNS",
                    "Width of text, 0: unlimited; default: the terminal's");
    options->Flag("--wide", &wide_, "Show all columns, and names in full");
    options->Number("--threads", &threads_, "N", "Threads of the query; 0: as many as processors");
    options->Value("--library", &library_, "FILE", "DuckDB's library libduckdb.so; default: found");
    options->Value("--time-limit", &time_limit_, "TIME",
                   "End the query after this time, as in 10s; a process with limits runs it",
                   CheckDuration);
    options->Value("--memory-limit", &memory_limit_, "SIZE",
                   "Most memory of the query, as in 2GiB; a process with limits runs it",
                   CheckSize);
    options->Flag("--no-symbols", &no_symbols_, "Leave program counters unnamed");
    options->Value("--symfs", &symfs_, "DIR", kSymfsHelp, CheckFolder);
  }

  int Execute(const Options&) override {
    if (json_ && csv_) {
      Say("--json and --csv exclude each other; choose one");
      return kExitUsage;
    }
    if (const std::string fault = UseQueryLibrary(library_); !fault.empty()) {
      Say(fault);
      return kExitUsage;
    }
    const analysis::Format format = json_  ? analysis::Format::kJson
                                    : csv_ ? analysis::Format::kCsv
                                           : analysis::Format::kText;
    const int width = wide_ ? 0 : static_cast<int>(width_);
    if (!time_limit_.empty() || !memory_limit_.empty()) return RunWithLimits(format, width);
    analysis::QueryOptions options;
    options.library = GivenQueryLibrary();
    options.format = format;
    options.limit = limit_;
    options.width = width;
    options.threads = static_cast<int>(threads_);
    options.pass.symbolize = !no_symbols_;
    options.pass.symfs = WithoutSlash(symfs_);
    std::shared_ptr<const analysis::Trace> trace;
    // Rows stay in the files until the query reads them.
    analysis::OpenOptions how;
    how.lazy = !analysis::MayAskResults(sql_);
    const int opened = ExitOf(analysis::Open(analysis::InputPath(bundle_), how, &trace));
    if (opened != kExitOk) return opened;
    const int ran = ExitOf(analysis::Query(trace, sql_, options, Put, nullptr));
    return ran != kExitOk ? ran : SayFaults(*trace);
  }

 private:
  static bool Put(void*, std::string_view text) {
    PutOut(text);
    return true;
  }

  int RunWithLimits(analysis::Format format, int width) {
    LimitedQuery query;
    query.sql = sql_;
    query.for_page = false;
    query.format = format;
    query.most_rows = limit_;
    query.width = width;
    query.threads = static_cast<int>(threads_);
    constexpr double kNsPerS = 1e9;
    uint64_t nanoseconds = 0;
    query.limits.seconds = kLongestSeconds;
    query.limits.memory_bytes = kMostBytes;
    if (!time_limit_.empty() && ParseDuration(time_limit_, &nanoseconds).empty())
      query.limits.seconds = static_cast<double>(nanoseconds) / kNsPerS;
    if (!memory_limit_.empty()) ParseSize(memory_limit_, &query.limits.memory_bytes);
    const QueryOutcome outcome = RunLimitedQuery(
        {analysis::InputPath(bundle_)}, query, [] { return true; }, Put, nullptr);
    if (!outcome.fault.empty()) Say(outcome.fault);
    SayLines(outcome.remarks);
    return outcome.exit_status;
  }

  std::string bundle_, sql_, library_, symfs_, time_limit_, memory_limit_;
  uint32_t limit_ = kMostRows, width_ = 0, threads_ = 0;
  bool json_ = false, csv_ = false, wide_ = false, no_symbols_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeQuery() { return std::make_unique<Query>(); }

}  // namespace gpuprof::launcher
