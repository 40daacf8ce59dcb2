// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof diff`: two recordings, or a saved baseline and a recording, beside each other. For
// scripts, a regression can be made a failure.

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "launcher/base/freed_memory.h"
#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/reading/baselines.h"
#include "launcher/reading/comparison.h"
#include "launcher/reading/reading.h"
#include "launcher/reading/table_options.h"

namespace gpuprof::launcher {
namespace {

std::string CheckFailOn(std::string_view text) {
  if (text == "regression") return "";
  return "'" + std::string(text) + "' is not a verdict to fail on; there is: regression";
}

std::string CheckFormat(std::string_view text) {
  for (const char* format : {"text", "markdown", "json", "csv"}) {
    if (text == format) return "";
  }
  return "'" + std::string(text) + "' is not a format; choose from text, markdown, json, csv";
}

class Diff : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("BEFORE", &before_, "A bundle, a .gpt file or a trace of another tool");
    options->Positional("AFTER", &after_, "Another one, of the changed program", false);
    options->Value("--baseline", &baseline_, "NAME",
                   "Compare with a baseline that 'gpuprof baseline save' has saved, in place of "
                   "BEFORE",
                   CheckBaselineName);
    options->Value("--baseline-dir", &folder_, "DIR", kBaselineFolderHelp);
    options->Value("--format", &format_, "text|markdown|json|csv",
                   "How to print it: markdown is for a pull request (default: text)", CheckFormat);
    options->Flag("--json", &json_, "The same as --format=json");
    options->Flag("--csv", &csv_, "Print the kernels as CSV, with all rows; as --format=csv");
    options->Value("--fail-on", &fail_on_, "regression",
                   "Exit with status 1 if the steps take longer, and not by chance", CheckFailOn);
    DeclareTables(options, &options_, &limit_, &width_);
    DeclareKernelRules(options, &kernel_rules_);
  }

  int Execute(const Options&) override {
    if (limit_ != Options::kNotGiven) options_.limit = limit_;
    if (json_ && csv_) {
      Say("--json and --csv exclude each other; choose one");
      return kExitUsage;
    }
    if (json_ || csv_) format_ = json_ ? "json" : "csv";
    if (baseline_.empty() == after_.empty()) {
      Say(after_.empty()
              ? "AFTER is missing; see 'gpuprof diff --help'"
              : "--baseline stands for BEFORE, so '" + after_ + "' is one trace too many");
      return kExitUsage;
    }
    KeepFreedMemory();
    Measured before, after;
    if (baseline_.empty()) {
      MeasureBoth({before_}, {after_}, options_, &before, &after);
    } else {
      const int found = FindBaseline(&before.baseline);
      if (found != kExitOk) return found;
      after = Measure({before_}, options_);
    }
    for (const Measured* side : {&before, &after}) {
      if (side->error) return ExitOf(side->error);
    }
    std::unique_ptr<google::protobuf::Message> result;
    const int compared =
        ExitOf(analysis::CompareBaselines(*before.baseline, *after.baseline, &result));
    if (compared != kExitOk) return compared;
    Print(*result);
    int faults = SayFaults(before.facts);
    if (SayFaults(after.facts) != kExitOk) faults = kExitUnreadable;
    if (faults != kExitOk || fail_on_.empty()) return faults;
    return analysis::IsRegression(*result) ? kExitFindings : kExitOk;
  }

 private:
  void Print(const google::protobuf::Message& result) const {
    if (format_ == "markdown") return PutOut(analysis::CompareMarkdown(result, options_));
    const analysis::Format format = format_ == "json"  ? analysis::Format::kJson
                                    : format_ == "csv" ? analysis::Format::kCsv
                                                       : analysis::Format::kText;
    PutOut(analysis::Render(result, format, options_, static_cast<int>(width_)));
  }

  int FindBaseline(std::unique_ptr<google::protobuf::Message>* baseline) const {
    BaselineFolder folder(folder_);
    const std::string fault = folder.OpenToRead();
    if (fault.empty()) return ReadBaseline(folder, baseline_, baseline);
    Say(fault);
    return kExitUnreadable;
  }

  std::string kernel_rules_, before_, after_, baseline_, folder_, format_, fail_on_;
  bool json_ = false, csv_ = false;
  uint32_t width_ = 0, limit_ = Options::kNotGiven;
  analysis::PassOptions options_;
};

}  // namespace

std::unique_ptr<Verb> MakeDiff() { return std::make_unique<Diff>(); }

}  // namespace gpuprof::launcher
