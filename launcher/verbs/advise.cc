// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof advise`: what bounds a program and what to try first. For scripts, a finding of some
// severity can be made a failure.

#include <google/protobuf/message.h>

#include <string_view>

#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"
#include "launcher/reading/thresholds.h"

namespace gpuprof::launcher {
namespace {

std::string CheckSeverity(std::string_view text) {
  for (const std::string_view known : {"high", "medium", "low", "info"}) {
    if (text == known) return "";
  }
  return "'" + std::string(text) + "' is not a severity; choose from high, medium, low, info";
}

class Advise : public Verb {
 public:
  void Declare(Options* options) override {
    width_ = static_cast<uint32_t>(TerminalWidth());
    options->Positional("BUNDLE", &bundle_,
                        "A bundle directory, a .gpt file or a trace of another tool",
                        /*required=*/false);
    options->Flag("--json", &json_, "Print JSON");
    options->Flag("--csv", &csv_, "Print the findings, or the rules, as CSV");
    options->Flag("--all", &all_, "Tell all findings in full; by default the three greatest");
    options->Flag("--rules", &rules_,
                  "List all rules with their thresholds, and read no recording");
    options->Value("--threshold", &threshold_, "NAME=VALUE[,NAME=VALUE]",
                   "Other thresholds than those that --rules lists: LA-001.min_share=20%",
                   CheckThresholds);
    DeclareKernelRules(options, &kernel_rules_);
    options->Value("--fail-on", &fail_on_, "high|medium|low|info",
                   "Exit with status 1 if a finding is of this severity or a higher one",
                   CheckSeverity);
    options->Number("--pid", &pid_, "PID", "Look at this process only; 0: all");
    options->Number("--width", &width_, "COLUMNS",
                    "Width of text, 0: unlimited; default: the terminal's");
  }

  std::map<std::string, double>* Thresholds() override { return &options_.thresholds; }

  int Execute(const Options&) override {
    if (json_ && csv_) {
      Say("--json and --csv exclude each other; choose one");
      return kExitUsage;
    }
    if (rules_ != bundle_.empty()) {
      Say(rules_ ? "--rules reads no recording; leave " + bundle_ + " out"
                 : "BUNDLE is missing: gpuprof advise DIRECTORY");
      return kExitUsage;
    }
    if (!threshold_.empty()) ParseThresholds(threshold_, &options_.thresholds);
    if (rules_) {
      Print(*analysis::AdviceRules(options_));
      return kExitOk;
    }
    options_.pid = static_cast<int32_t>(pid_);
    if (all_) options_.limit = 0;
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, false, &trace, analysis::TablesOf("advise", options_),
                                 analysis::SumsAbove("advise", options_));
    if (opened != kExitOk) return opened;
    std::unique_ptr<google::protobuf::Message> result;
    const int ran = ExitOf(analysis::Run("advise", *trace, options_, &result));
    if (ran != kExitOk) return ran;
    Print(*result);
    const int faults = SayFaults(*trace);
    if (faults != kExitOk || fail_on_.empty()) return faults;
    return analysis::HasFinding(*result, fail_on_) ? kExitFindings : kExitOk;
  }

 private:
  void Print(const google::protobuf::Message& result) {
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
  }

  std::string bundle_, kernel_rules_, fail_on_, threshold_;
  bool json_ = false, csv_ = false, rules_ = false, all_ = false;
  uint32_t pid_ = 0, width_ = 0;
  analysis::PassOptions options_;
};

}  // namespace

std::unique_ptr<Verb> MakeAdvise() { return std::make_unique<Advise>(); }

}  // namespace gpuprof::launcher
