// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof diff`: two recordings beside each other. For scripts, a regression can be made a
// failure.

#include <google/protobuf/message.h>

#include <string_view>

#include "launcher/command.h"
#include "launcher/reading.h"
#include "launcher/text.h"

namespace gpuprof::launcher {
namespace {

std::string CheckFailOn(std::string_view text) {
  if (text == "regression") return "";
  return "'" + std::string(text) + "' is not a verdict to fail on; there is: regression";
}

std::string CheckFormat(std::string_view text) {
  if (text == "text" || text == "markdown" || text == "json") return "";
  return "'" + std::string(text) + "' is not a format; choose from text, markdown, json";
}

class Diff : public Verb {
 public:
  void Declare(Options* options) override {
    width_ = static_cast<uint32_t>(TerminalWidth());
    options->Positional("BEFORE", &before_, "A bundle, a .gpt file or a trace of another tool");
    options->Positional("AFTER", &after_, "Another one, of the changed program");
    options->Value("--format", &format_, "text|markdown|json",
                   "How to print it: markdown is for a pull request (default: text)", CheckFormat);
    options->Flag("--json", &json_, "The same as --format=json");
    options->Value("--fail-on", &fail_on_, "regression",
                   "Exit with status 1 if the steps take longer, and not by chance", CheckFailOn);
    options->Value("--step-marker", &options_.step_marker, "REGEX",
                   "Operations and ranges whose name matches begin a step; default: detected");
    options->Number("--limit", &limit_, "N",
                    "Largest number of rows in a table (default: 20); 0: all");
    options->Number("--width", &width_, "COLUMNS",
                    "Width of text, 0: unlimited; default: the terminal's");
  }

  int Execute(const Options&) override {
    if (limit_ != Options::kNotGiven) options_.limit = limit_;
    std::shared_ptr<const analysis::Trace> before, after;
    for (const auto& [path, trace] : {std::pair(&before_, &before), std::pair(&after_, &after)}) {
      const int opened = OpenInput(*path, false, trace, analysis::CompareTables());
      if (opened != kExitOk) return opened;
    }
    std::unique_ptr<google::protobuf::Message> result;
    const int ran = ExitOf(analysis::Compare(*before, *after, options_, &result));
    if (ran != kExitOk) return ran;
    if (json_ || format_ == "json") {
      PutOut(analysis::Render(*result, analysis::Format::kJson, options_, 0));
    } else {
      PutOut(analysis::CompareText(*result, options_, static_cast<int>(width_),
                                   format_ == "markdown"));
    }
    int faults = SayFaults(*before);
    if (faults == kExitOk) faults = SayFaults(*after);
    if (faults != kExitOk || fail_on_.empty()) return faults;
    return analysis::IsRegression(*result) ? kExitFindings : kExitOk;
  }

 private:
  std::string before_, after_, format_, fail_on_;
  bool json_ = false;
  uint32_t width_ = 0, limit_ = Options::kNotGiven;
  analysis::PassOptions options_;
};

}  // namespace

std::unique_ptr<Verb> MakeDiff() { return std::make_unique<Diff>(); }

}  // namespace gpuprof::launcher
