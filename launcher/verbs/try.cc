// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof try`: runs a command with those remedies of a recording's findings that need no change
// of the program, interleaved with runs of the unchanged program, and says what each one wins.

#include <google/protobuf/message.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "launcher/base/processors.h"
#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"
#include "launcher/reading/table_options.h"
#include "launcher/reading/thresholds.h"
#include "launcher/record/bundle.h"
#include "launcher/record/program.h"
#include "launcher/record/trial_runs.h"

namespace gpuprof::launcher {
namespace {

constexpr uint32_t kMostRounds = 1000;

// Returns whether a text begins with the name of a variable and "=".
bool BeginsVariable(std::string_view text) {
  const size_t sign = text.find('=');
  if (sign == 0 || sign == std::string_view::npos || (text[0] >= '0' && text[0] <= '9'))
    return false;
  return std::all_of(text.begin(), text.begin() + static_cast<ptrdiff_t>(sign), [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

// Adds "NAME=VALUE,NAME=VALUE" to a remedy. Values may hold commas: one ends a value only where
// another variable follows. Returns empty, or the fault.
std::string ParseVariables(std::string_view text, results::Remedy* remedy) {
  if (!BeginsVariable(text))
    return "'" + std::string(text) + "' is not NAME=VALUE; NAME= removes the variable";
  while (!text.empty()) {
    size_t end = text.find(',');
    while (end != std::string_view::npos && !BeginsVariable(text.substr(end + 1)))
      end = text.find(',', end + 1);
    const std::string_view word = text.substr(0, end);
    const size_t sign = word.find('=');
    results::EnvironmentVariable* variable = remedy->add_variables();
    variable->set_name(std::string(word.substr(0, sign)));
    variable->set_value(std::string(word.substr(sign + 1)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return "";
}

std::string CheckVariables(std::string_view text) {
  results::Remedy remedy;
  return ParseVariables(text, &remedy);
}

std::string CheckProcessors(std::string_view text) {
  cpu_set_t set, own;
  std::string fault = ParseProcessors(text, &set);
  if (!fault.empty()) return fault;
  if (sched_getaffinity(0, sizeof own, &own) != 0) return "";
  CPU_AND(&own, &own, &set);
  return CPU_EQUAL(&own, &set) ? ""
                               : "this process may not use all processors of " + std::string(text);
}

// Whether a finding is about variables that the user has set.
bool IsAboutSettings(std::string_view rule) { return rule == "EN-001" || rule == "TH-001"; }

// Returns what is different in a run: "of the unchanged program", "with A=1".
std::string ShownRun(const results::Trial& trial) {
  std::string words;
  for (const results::EnvironmentVariable& variable : trial.remedy().variables())
    words += " " + variable.name() + "=" + variable.value();
  if (!words.empty()) return "with" + words;
  return trial.processors().empty() ? "of the unchanged program"
                                    : "on processors " + trial.processors();
}

class Try : public Verb {
 public:
  void Declare(Options* options) override {
    width_ = static_cast<uint32_t>(TerminalWidth());
    options->Positional("BUNDLE", &bundle_,
                        "A bundle directory, a .gpt file or a trace of another tool");
    options->Number("--rounds", &rounds_, "N",
                    "In each round the unchanged program runs once, and each change once; at "
                    "least 2",
                    kMostRounds);
    options->Value("--set", &set_, "NAME=VALUE[,NAME=VALUE]",
                   "One more change to measure; NAME= removes a variable", CheckVariables);
    options->Value("--processors", &processors_, "LIST",
                   "Measure the command on these processors alone: 0-15", CheckProcessors);
    options->Value("--only", &only_, "RULE[,RULE]", "Try remedies of these findings alone: SY-002");
    options->Flag("--list", &list_, "Print what would be tried, and run nothing");
    options->Value("-o,--output", &output_, "DIR",
                   "Keep the recordings of the runs in this new folder; by default they are "
                   "removed");
    options->Value("--step-marker", &step_marker_, "REGEX", "Names of ranges that are steps",
                   CheckRegex);
    options->Flag("--json", &json_, "Print JSON");
    options->Flag("--csv", &csv_, "Print the changes as CSV");
    options->Number("--width", &width_, "COLUMNS",
                    "Width of text, 0: unlimited; default: the terminal's");
    options->CommandBehindMark(&command_);
  }

  std::map<std::string, double>* Thresholds() override { return &options_.thresholds; }

  int Execute(const Options&) override {
    if (json_ && csv_) return Usage("--json and --csv exclude each other; choose one");
    if (rounds_ < 2)
      return Usage("--rounds=" + std::to_string(rounds_) +
                   " is too few: an interval needs at least 2");
    if (command_.empty() && !list_)
      return Usage("a command is missing: gpuprof try BUNDLE -- COMMAND");
    options_.step_marker = step_marker_;
    const int planned = Plan();
    if (planned != kExitOk || list_) return planned;
    if (trials_->trials().empty()) {
      Print();
      Say("nothing to try: no finding can be remedied by the environment; --set tries a change of "
          "your own");
      return kExitOk;
    }
    if (!FindProgram(command_[0], {command_.begin() + 1, command_.end()}, std::getenv("PATH"))
             .found) {
      Say("'" + command_[0] + "' was not found; check its name");
      return kExitNotFound;
    }
    const int status = RunAll();
    analysis::CompareRuns(trials_.get());
    Print();
    return status;
  }

 private:
  static int Usage(const std::string& what) {
    Say(what);
    return kExitUsage;
  }

  bool IsWanted(const std::string& id) const {
    if (only_.empty()) return true;
    return ("," + only_ + ",").find("," + id + ",") != std::string::npos;
  }

  int Plan() {
    std::shared_ptr<const analysis::Trace> trace;
    const int opened = OpenInput(bundle_, false, &trace, analysis::TablesOf("advise", options_),
                                 analysis::SumsAbove("advise", options_));
    if (opened != kExitOk) return opened;
    std::unique_ptr<google::protobuf::Message> advice;
    const int ran = ExitOf(analysis::Run("advise", *trace, options_, &advice));
    if (ran != kExitOk) return ran;
    SayFaults(*trace);
    trials_.reset(static_cast<results::Trials*>(
        analysis::PlanTrials(*advice, ProcessorsOfNodes()).release()));
    LeaveOut();
    if (!set_.empty()) ParseVariables(set_, trials_->add_trials()->mutable_remedy());
    if (!processors_.empty()) trials_->add_trials()->set_processors(processors_);
    trials_->set_command(Words());
    if (list_) Print();
    return kExitOk;
  }

  // Leaves out what the user does not want, and what the user's own environment sets already.
  void LeaveOut() {
    results::Trials planned;
    planned.Swap(trials_.get());
    *trials_->mutable_meta() = planned.meta();
    *trials_->mutable_not_tried() = planned.not_tried();
    for (const results::Trial& trial : planned.trials()) {
      std::string reason;
      for (const results::EnvironmentVariable& variable : trial.remedy().variables()) {
        const char* here = std::getenv(variable.name().c_str());
        if (here == nullptr) {
          if (variable.value().empty()) reason = variable.name() + " is not set here";
        } else if (here == variable.value()) {
          reason = variable.name() + " is set so already";
        } else if (!IsAboutSettings(trial.id())) {
          reason = variable.name() + " is set here, and the change would replace its value";
        }
      }
      if (!IsWanted(trial.id())) reason = "--only leaves it out";
      if (reason.empty()) {
        *trials_->add_trials() = trial;
        continue;
      }
      results::UntriedFinding* untried = trials_->add_not_tried();
      untried->set_id(trial.id());
      untried->set_name(trial.name());
      untried->set_reason(reason);
    }
  }

  std::string Words() const {
    std::string words;
    for (const std::string& word : command_) words += (words.empty() ? "" : " ") + ShellQuote(word);
    return words;
  }

  // Returns the folder of one recording, made. Empty: recordings are not kept.
  std::string FolderOf(const std::string& name, std::string* fault) const {
    if (output_.empty()) return "";
    const std::string path = output_ + "/" + name;
    if (mkdir(path.c_str(), 0700) != 0)
      *fault = "'" + path + "' cannot be made: " + std::strerror(errno);
    return path;
  }

  // Runs the command once and keeps its times. Returns the exit status; not 0: no more runs.
  int RunOnce(TrialRuns* runs, const results::Trial& trial, const std::string& name,
              google::protobuf::RepeatedPtrField<results::TrialRun>* to) {
    std::string fault;
    const std::string folder = FolderOf(name, &fault);
    results::TrialRun run;
    if (fault.empty()) fault = runs->Run(trial, folder, &run);
    if (fault.empty()) {
      *to->Add() = run;
      return kExitOk;
    }
    const std::string what = "the run " + ShownRun(trial) + " failed: ";
    trials_->set_stop_reason(what + AsSentence(fault));
    Say(what + fault);
    const std::string last = runs->LastLines();
    if (!last.empty()) Say("its last lines:\n" + last);
    return runs->could_not_start() ? kExitOwnFailure : kExitFindings;
  }

  int RunAll() {
    if (!output_.empty() && mkdir(output_.c_str(), 0700) != 0) {
      Say("'" + output_ + "' cannot be made: " + std::strerror(errno) + "; name a new folder");
      return kExitOwnFailure;
    }
    trials_->set_round_count(rounds_);
    const auto changes = static_cast<uint32_t>(trials_->trials_size());
    const uint32_t all = rounds_ * (changes + 1);
    Say(std::to_string(rounds_) + " rounds of " + Plural(changes + 1, "run", "runs"));
    TrialRuns runs(command_, options_);
    uint32_t done = 0;
    for (uint32_t round = 0; round < rounds_; ++round) {
      // Which run comes first changes from round to round: what drifts hits all alike.
      for (uint32_t i = 0; i <= changes; ++i) {
        const uint32_t which = (i + round) % (changes + 1);
        const bool is_changed = which != 0;
        results::Trial* trial =
            is_changed ? trials_->mutable_trials(static_cast<int>(which - 1)) : nullptr;
        const std::string name = "round" + std::to_string(round + 1) + "-" +
                                 (is_changed ? "change" + std::to_string(which) : "unchanged");
        const int status =
            RunOnce(&runs, is_changed ? *trial : results::Trial(), name,
                    is_changed ? trial->mutable_runs() : trials_->mutable_unchanged());
        if (status != kExitOk) return status;
        if (++done != all)
          Say(std::to_string(done) + " of " + Plural(all, "run", "runs") + " done");
      }
    }
    return kExitOk;
  }

  void Print() {
    const analysis::Format format = json_  ? analysis::Format::kJson
                                    : csv_ ? analysis::Format::kCsv
                                           : analysis::Format::kText;
    options_.limit = 0;
    analysis::Render(
        *trials_, format, options_, static_cast<int>(width_),
        [](void*, std::string_view text) {
          PutOut(text);
          return true;
        },
        nullptr);
  }

  std::string bundle_, set_, only_, output_, step_marker_, processors_;
  bool list_ = false, json_ = false, csv_ = false;
  uint32_t rounds_ = 3, width_ = 0;
  std::vector<std::string> command_;
  std::unique_ptr<results::Trials> trials_;
  analysis::PassOptions options_;
};

}  // namespace

std::unique_ptr<Verb> MakeTry() { return std::make_unique<Try>(); }

}  // namespace gpuprof::launcher
