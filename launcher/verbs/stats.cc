// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof stats`: one pass of the analysis library over one input, as a text table, JSON or CSV.

#include <google/protobuf/message.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "analysis/query/operation_table.h"
#include "launcher/base/freed_memory.h"
#include "launcher/base/nearest.h"
#include "launcher/base/text.h"
#include "launcher/base/values.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"
#include "launcher/reading/selection.h"
#include "launcher/reading/table_options.h"
#include "launcher/reading/thresholds.h"

namespace gpuprof::launcher {
namespace {

std::string CheckWindow(std::string_view text) {
  std::optional<std::pair<int64_t, int64_t>> window;
  return ParseWindow(text, &window);
}

std::string CheckSteps(std::string_view text) {
  std::optional<std::pair<uint64_t, uint64_t>> steps;
  return ParseSteps(text, &steps);
}

std::string CheckDevices(std::string_view text) {
  std::vector<uint32_t> devices;
  return ParseDevices(text, &devices);
}

std::string CheckFormat(std::string_view text) {
  if (text == "xprof" || text == "dot") return "";
  return "'" + std::string(text) + "' is not a format; choose xprof or dot";
}

class Stats : public Verb {
 public:
  void Declare(Options* options) override {
    for (const analysis::PassInfo& pass : analysis::Passes()) {
      names_.emplace_back(pass.name);
      type_ += (type_.empty() ? "" : "|") + std::string(pass.name);
      help_ +=
          (help_.empty() ? "" : "; ") + std::string(pass.name) + ": " + std::string(pass.summary);
      AddKeys(pass);
    }
    width_ = static_cast<uint32_t>(TerminalWidth());
    options->Positional(type_.c_str(), &pass_, help_.c_str());
    options->Positional("BUNDLE", &bundle_,
                        "A bundle directory, a .gpt file, or a trace of torch.profiler, "
                        "TensorFlow, JAX, Nsight Systems or rocprofv3",
                        /*required=*/false);
    options->Flag("--json", &json_, "Print JSON, with all rows");
    options->Flag("--csv", &csv_, "Print the main table as CSV, with all rows");
    format_help_ = "xprof: the page of XProf 2.24.0 as its JSON, for " + XProfPageNames() +
                   "; dot: the graph of graph_viewer";
    options->Value("--format", &format_, "xprof|dot", format_help_.c_str(), CheckFormat);
    options->Value("--by", &options_.by, keys_.c_str(), keys_help_.c_str());
    options->Number(
        "--limit", &limit_, "N",
        "Largest number of rows in a text table (default: 20) or of stacks (default: all); 0: all");
    options->Number("--pid", &pid_, "PID", "Show only this process; 0: all");
    options->Value("--step-marker", &options_.step_marker, "REGEX",
                   "Operations and ranges whose name matches begin a step; default: detected",
                   CheckRegex);
    options->Value("--under-range", &options_.under_range, "NAME",
                   "For kernels: only kernels launched inside ranges of this name, or DOMAIN:NAME");
    options->Value("--program", &options_.program, "NAME|NUMBER",
                   "For memory_viewer and graph_viewer: the program of XLA; default: for "
                   "memory_viewer the one with the highest peak");
    options->Number("--memory-space", &memory_space_, "NUMBER",
                    "For memory_viewer: only this memory space; 0 is the device's memory");
    options->Value("--op", &options_.op, "NAME",
                   "For graph_viewer: the operation whose producers and consumers are shown");
    options->Number("--depth", &depth_, "N",
                    "For graph_viewer: how far from the operation others may be (default: 2)");
    options->Value("--window", &window_, "FROM-TO",
                   "Only what began in this time of the recording: 1.5s-3s, 200ms-1s", CheckWindow);
    options->Value("--steps", &steps_, "FIRST-LAST",
                   "Only what began, or was launched, in these steps: 10-15, or 10", CheckSteps);
    options->Value("--device", &devices_, "NUMBER[,NUMBER]", "Only work of these devices",
                   CheckDevices);
    options->Number("--width", &width_, "COLUMNS",
                    "Width of text, 0: unlimited; default: the terminal's");
    options->Value("--threshold", &threshold_, "NAME=VALUE[,NAME=VALUE]",
                   "For overview: other thresholds of advice ('gpuprof advise --rules' lists them)",
                   CheckThresholds);
    options->Flag("--wide", &options_.wide,
                  "Full names of kernels and functions, and tables wider than 120 columns");
    options->Flag("--no-symbols", &no_symbols_, "Leave program counters unnamed");
    options->Value(
        "--library", &library_, "FILE",
        "For stragglers of a Parquet file: DuckDB's library libduckdb.so; default: found");
    DeclareKernelRules(options, &kernel_rules_);
    options->Value("--symfs", &symfs_, "DIR", kSymfsHelp, CheckFolder);
  }

  std::map<std::string, double>* Thresholds() override {
    return pass_ == "overview" || pass_ == "advise" ? &options_.thresholds : nullptr;
  }

  int Execute(const Options&) override {
    if (memory_space_ != Options::kNotGiven) options_.memory_space = memory_space_;
    if (depth_ != Options::kNotGiven) options_.depth = depth_;
    if (format_ == "xprof") return PrintXProfPage();
    if (!format_.empty() && (pass_ != "graph_viewer" || json_ || csv_)) {
      Say("--format=dot prints the graph of graph_viewer, and nothing else");
      return kExitUsage;
    }
    bool known = false;
    for (const std::string& name : names_) known = known || name == pass_;
    if (!known && access(pass_.c_str(), F_OK) == 0) {
      Say("which pass of " + pass_ + "? For a start: gpuprof stats overview " +
          analysis::ShellWord(pass_) + "; there are " +
          Join(", ", names_.data(), names_.data() + names_.size()));
      return kExitUsage;
    }
    if (!known) {
      Say("'" + pass_ + "' is not a pass; choose from " +
          Join(", ", names_.data(), names_.data() + names_.size()) + "." +
          (pass_ == "nvtx" || pass_ == "itt" ? " Did you mean 'ranges'?"
                                             : DidYouMean(pass_, names_)));
      return kExitUsage;
    }
    if (bundle_.empty()) {
      Say("BUNDLE is missing: gpuprof stats " + pass_ + " DIRECTORY");
      return kExitUsage;
    }
    if (json_ && csv_) {
      Say("--json and --csv exclude each other; choose one");
      return kExitUsage;
    }
    options_.pid = static_cast<int32_t>(pid_);
    ReadSelection();
    if (!threshold_.empty()) ParseThresholds(threshold_, &options_.thresholds);
    options_.symbolize = !no_symbols_;
    options_.symfs = WithoutSlash(symfs_);
    if (limit_ != Options::kNotGiven) options_.limit = limit_;
    if (!json_ && !csv_) options_.named_rows = options_.limit.value_or(analysis::kTextRows);
    if (pass_ == "stragglers" && analysis::IsParquet(bundle_)) return PrintOperationTable();
    std::shared_ptr<const analysis::Trace> trace;
    if (pass_ == "critical_path") KeepFreedMemory();
    const int opened = OpenInput(bundle_, false, &trace, analysis::TablesOf(pass_, options_),
                                 analysis::SumsAbove(pass_, options_));
    if (opened != kExitOk) return opened;
    std::unique_ptr<google::protobuf::Message> result;
    const int ran = ExitOf(analysis::Run(pass_, *trace, options_, &result));
    if (ran != kExitOk) return ran;
    if (format_ == "dot") {
      PutOut(analysis::GraphDot(*result));
      return SayFaults(*trace);
    }
    Print(*result);
    return SayFaults(*trace);
  }

 private:
  void Print(const google::protobuf::Message& result) const {
    const analysis::Format format = json_  ? analysis::Format::kJson
                                    : csv_ ? analysis::Format::kCsv
                                           : analysis::Format::kText;
    analysis::Render(
        result, format, options_, static_cast<int>(width_),
        [](void*, std::string_view text) {
          PutOut(text);
          return true;
        },
        nullptr);
    if (format != analysis::Format::kText) return;
    const std::string remarks = analysis::Remarks(result, options_);
    if (!remarks.empty()) Say(remarks);
  }

  // Prints the pass `stragglers` of a table of operations, which is no recording.
  int PrintOperationTable() {
    std::string library;
    if (!library_.empty()) {
      // A name without a slash would be looked for elsewhere.
      char path[PATH_MAX];
      if (realpath(library_.c_str(), path) == nullptr) {
        Say("'" + library_ + "' is not a file; --library names libduckdb.so");
        return kExitUsage;
      }
      library = path;
    }
    std::unique_ptr<google::protobuf::Message> result;
    const int ran = ExitOf(analysis::RunOperationTable(bundle_, library, options_, &result));
    if (ran == kExitOk) Print(*result);
    return ran;
  }

  static std::string XProfPageNames() {
    std::string pages;
    for (const analysis::PassInfo& page : analysis::XProfPages())
      pages += (pages.empty() ? "" : ", ") + std::string(page.name);
    return pages;
  }
  bool IsXProfPage() const {
    const auto& pages = analysis::XProfPages();
    return std::any_of(pages.begin(), pages.end(),
                       [&](const analysis::PassInfo& page) { return page.name == pass_; });
  }

  // Prints XProf's page. The page has no options: it is there to be compared field by field.
  int PrintXProfPage() {
    if (!IsXProfPage()) {
      Say("XProf has no page for '" + pass_ + "'; with --format=xprof choose from " +
          XProfPageNames());
      return kExitUsage;
    }
    if (bundle_.empty()) {
      Say("BUNDLE is missing: gpuprof stats " + pass_ + " DIRECTORY --format=xprof");
      return kExitUsage;
    }
    if (HasOtherOptions()) {
      Say("--format=xprof prints a whole page of XProf, as JSON; leave the other options out");
      return kExitUsage;
    }
    analysis::XProfPage page;
    const int made = ExitOf(analysis::MakeXProfPage(pass_, bundle_, options_, &page));
    if (made != kExitOk) return made;
    PutOut(analysis::PlainJson(std::move(page.json)) + "\n");
    if (!page.remark.empty()) Say(page.remark);
    return kExitOk;
  }

  bool HasOtherOptions() const {
    return csv_ || no_symbols_ || options_.wide || pid_ != 0 || limit_ != Options::kNotGiven ||
           !window_.empty() || !steps_.empty() || !devices_.empty() || !symfs_.empty() ||
           !options_.by.empty() || !options_.step_marker.empty() || !options_.under_range.empty() ||
           !threshold_.empty() || !options_.op.empty() || options_.depth ||
           (pass_ != "memory_viewer" && (!options_.program.empty() || options_.memory_space));
  }

  // The values were checked already.
  void ReadSelection() {
    if (!window_.empty()) ParseWindow(window_, &options_.window);
    if (!steps_.empty()) ParseSteps(steps_, &options_.steps);
    if (!devices_.empty()) ParseDevices(devices_, &options_.devices);
  }

  void AddKeys(const analysis::PassInfo& pass) {
    if (pass.keys.empty()) return;
    keys_help_ += (keys_help_.empty() ? "Key of " : "; of ") + std::string(pass.name) + ": ";
    for (const std::string_view key : pass.keys) {
      if (listed_.insert(key).second) keys_ += (keys_.empty() ? "" : "|") + std::string(key);
      keys_help_ += (key == pass.keys.front() ? "" : ", ") + std::string(key);
    }
  }

  std::vector<std::string> names_;
  std::set<std::string_view> listed_;  // in keys_; passes share some
  std::string kernel_rules_, type_, help_, pass_, bundle_, keys_, keys_help_, format_help_, symfs_,
      window_, steps_, devices_, threshold_, format_, library_;
  bool json_ = false, csv_ = false, no_symbols_ = false;
  uint32_t pid_ = 0, width_ = 0, limit_ = Options::kNotGiven, memory_space_ = Options::kNotGiven,
           depth_ = Options::kNotGiven;
  analysis::PassOptions options_;
};

}  // namespace

std::unique_ptr<Verb> MakeStats() { return std::make_unique<Stats>(); }

}  // namespace gpuprof::launcher
