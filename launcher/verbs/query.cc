// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof query`: SQL over the tables of a recording and the results of passes.

#include <limits.h>
#include <stdlib.h>

#include "analysis/query/query.h"
#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

constexpr uint32_t kMostRows = 100;

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
    options->Flag("--no-symbols", &no_symbols_, "Leave program counters unnamed");
    options->Value("--symfs", &symfs_, "DIR", kSymfsHelp, CheckFolder);
  }

  int Execute(const Options&) override {
    if (json_ && csv_) {
      Say("--json and --csv exclude each other; choose one");
      return kExitUsage;
    }
    analysis::QueryOptions options;
    if (!library_.empty()) {
      // A name without a slash would be looked for elsewhere.
      char path[PATH_MAX];
      if (realpath(library_.c_str(), path) == nullptr) {
        Say("'" + library_ + "' is not a file; --library names libduckdb.so");
        return kExitUsage;
      }
      options.library = path;
    }
    options.format = json_  ? analysis::Format::kJson
                     : csv_ ? analysis::Format::kCsv
                            : analysis::Format::kText;
    options.limit = limit_;
    options.width = wide_ ? 0 : static_cast<int>(width_);
    options.threads = static_cast<int>(threads_);
    options.pass.symbolize = !no_symbols_;
    options.pass.symfs = WithoutSlash(symfs_);
    std::shared_ptr<const analysis::Trace> trace;
    // Rows stay in the files until the query reads them.
    analysis::OpenOptions how;
    how.lazy = true;
    const int opened = ExitOf(analysis::Open(analysis::InputPath(bundle_), how, &trace));
    if (opened != kExitOk) return opened;
    const auto sink = [](void*, std::string_view text) {
      PutOut(text);
      return true;
    };
    const int ran = ExitOf(analysis::Query(trace, sql_, options, sink, nullptr));
    return ran != kExitOk ? ran : SayFaults(*trace);
  }

 private:
  std::string bundle_, sql_, library_, symfs_;
  uint32_t limit_ = kMostRows, width_ = 0, threads_ = 0;
  bool json_ = false, csv_ = false, wide_ = false, no_symbols_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeQuery() { return std::make_unique<Query>(); }

}  // namespace gpuprof::launcher
