// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof advise`: what bounds a program and what to try first. For scripts, a finding of some
// severity can be made a failure.

#include <google/protobuf/message.h>

#include <string_view>

#include "launcher/command.h"
#include "launcher/reading.h"
#include "launcher/text.h"

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
                        "A bundle directory, a .gpt file or a trace of another tool");
    options->Flag("--json", &json_, "Print JSON");
    options->Value("--fail-on", &fail_on_, "high|medium|low|info",
                   "Exit with status 1 if a finding is of this severity or a higher one",
                   CheckSeverity);
    options->Number("--pid", &pid_, "PID", "Look at this process only; 0: all");
    options->Number("--width", &width_, "COLUMNS",
                    "Width of text, 0: unlimited; default: the terminal's");
  }

  int Execute(const Options&) override {
    analysis::PassOptions options;
    options.pid = static_cast<int32_t>(pid_);
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, false, &trace, analysis::TablesOf("advise", options));
    if (opened != kExitOk) return opened;
    std::unique_ptr<google::protobuf::Message> result;
    const int ran = ExitOf(analysis::Run("advise", *trace, options, &result));
    if (ran != kExitOk) return ran;
    analysis::Render(
        *result, json_ ? analysis::Format::kJson : analysis::Format::kText, options,
        static_cast<int>(width_),
        [](void*, std::string_view text) {
          PutOut(text);
          return true;
        },
        nullptr);
    const int faults = SayFaults(*trace);
    if (faults != kExitOk || fail_on_.empty()) return faults;
    return analysis::HasFinding(*result, fail_on_) ? kExitFindings : kExitOk;
  }

 private:
  std::string bundle_, fail_on_;
  bool json_ = false;
  uint32_t pid_ = 0, width_ = 0;
};

}  // namespace

std::unique_ptr<Verb> MakeAdvise() { return std::make_unique<Advise>(); }

}  // namespace gpuprof::launcher
