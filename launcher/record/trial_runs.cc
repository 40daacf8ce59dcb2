// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See trial_runs.h.

#include "launcher/record/trial_runs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "launcher/base/processors.h"
#include "launcher/base/temporary_folder.h"
#include "launcher/base/text.h"
#include "launcher/reading/reading.h"
#include "launcher/record/child.h"

namespace gpuprof::launcher {
namespace {

// What tells steps: work of GPUs, operations, ranges. Nothing that costs more.
constexpr char kSources[] = "--trace=cuda,ops,nvtx,threads";
constexpr long kLastBytes = 2000;

// Changes this process's environment, which the command inherits, and changes it back.
class ChangedVariables {
 public:
  explicit ChangedVariables(const results::Remedy& remedy) {
    for (const results::EnvironmentVariable& variable : remedy.variables()) {
      const char* before = std::getenv(variable.name().c_str());
      before_.emplace_back(variable.name(),
                           before == nullptr ? std::nullopt : std::optional<std::string>(before));
      Set(variable.name(), variable.value().empty() ? nullptr : variable.value().c_str());
    }
  }
  ChangedVariables(const ChangedVariables&) = delete;
  ChangedVariables& operator=(const ChangedVariables&) = delete;
  ~ChangedVariables() {
    for (auto each = before_.rbegin(); each != before_.rend(); ++each)
      Set(each->first, each->second ? each->second->c_str() : nullptr);
  }

 private:
  static void Set(const std::string& name, const char* value) {
    value == nullptr ? unsetenv(name.c_str()) : setenv(name.c_str(), value, 1);
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

// Leads stdout and stderr, which the command inherits, into a file, and back.
class LedOutput {
 public:
  explicit LedOutput(int file) {
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      before_[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
      dup2(file, fd);
    }
  }
  LedOutput(const LedOutput&) = delete;
  LedOutput& operator=(const LedOutput&) = delete;
  ~LedOutput() {
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      if (before_[fd] < 0) {
        close(fd);  // it was closed
        continue;
      }
      dup2(before_[fd], fd);
      close(before_[fd]);
    }
  }

 private:
  int before_[3] = {-1, -1, -1};
};

}  // namespace

std::string TrialRuns::Measure(const std::string& bundle, results::TrialRun* run) const {
  std::shared_ptr<const analysis::Trace> trace;
  analysis::OpenOptions options;
  options.tables = analysis::TablesOf("overview", options_);
  analysis::Error error = analysis::Open(analysis::InputPath(bundle), options, &trace);
  if (!error) error = analysis::MeasureRun(*trace, options_, run);
  return error.message;
}

std::string TrialRuns::Run(const results::Trial& trial, const std::string& out,
                           results::TrialRun* run) {
  TemporaryFolder folder;
  std::string fault = out.empty() ? folder.Make() : "";
  if (fault.empty()) fault = MakeUnnamedFile(&log_);
  could_not_start_ = !fault.empty();
  if (!fault.empty()) return fault;
  const std::string bundle = out.empty() ? folder.path() : out;
  std::vector<std::string> words = {"/proc/self/exe", "run",    "--quiet",       "-o",
                                    bundle,           kSources, "--capture=now", "--"};
  words.insert(words.end(), command_.begin(), command_.end());
  ChildResult child;
  {
    const ChangedVariables variables(trial.remedy());
    const HeldProcessors held(trial.processors());
    const LedOutput output(log_.fd());
    child = RunChild(words, {});
  }
  could_not_start_ = child.exec_error != 0;
  if (could_not_start_)
    return std::string("no process could be made: ") + strerror(child.exec_error);
  if (child.ExitStatus() != 0) {
    return child.ExitStatus() > 128
               ? "a signal ended it (" + std::to_string(child.ExitStatus() - 128) + ")"
               : "it ended with status " + std::to_string(child.ExitStatus());
  }
  run->set_wall_ns(static_cast<int64_t>(child.wall_ns));
  fault = Measure(bundle, run);
  return fault.empty() ? "" : "its recording cannot be read: " + fault;
}

std::string TrialRuns::LastLines() const {
  const long size = lseek(log_.fd(), 0, SEEK_END);
  if (size <= 0) return "";
  const long from = size > kLastBytes ? size - kLastBytes : 0;
  std::string text(static_cast<size_t>(size - from), '\0');
  const ssize_t got = pread(log_.fd(), text.data(), text.size(), from);
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  if (from == 0) return text;
  const size_t line = text.find('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace gpuprof::launcher
