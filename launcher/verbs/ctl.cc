// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof ctl`: one request to each named process over its control socket.

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "launcher/base/json_text.h"
#include "launcher/base/nearest.h"
#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/control/carriers.h"
#include "launcher/control/control_client.h"
#include "launcher/control/process_json.h"
#include "launcher/record/summary.h"
#include "proto/contract.h"
#include "proto/control.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

constexpr int kStatusTimeoutMs = 10'000;
constexpr int kYoungTimeoutMs = 2'000;
constexpr int kYoungPauseMs = 20;

bool IsLauncher(int32_t pid) {
  struct stat ours, theirs;
  return stat("/proc/self/exe", &ours) == 0 &&
         stat(("/proc/" + std::to_string(pid) + "/exe").c_str(), &theirs) == 0 &&
         ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

std::string WhyNoSocket(int32_t pid) {
  const std::string name = "process " + std::to_string(pid);
  if (kill(pid, 0) != 0 && errno == ESRCH)
    return name + " does not exist; 'gpuprof ps' lists those that can be asked";
  struct stat info;
  const std::string folder = "/proc/" + std::to_string(pid);
  if (geteuid() != 0 && stat(folder.c_str(), &info) == 0 && info.st_uid != geteuid()) {
    const passwd* owner = getpwuid(info.st_uid);
    return name + " belongs to " +
           (owner == nullptr ? std::to_string(info.st_uid) : std::string(owner->pw_name)) +
           "; ask as that user or as root";
  }
  if (IsLauncher(pid)) {
    return name + " is gpuprof itself; ask the command that it started: 'gpuprof ps' lists it";
  }
  return name +
         " runs without gpuprof; start it with 'gpuprof run --capture=off -- ...' (and --include "
         "NAME if programs of its name are left out)";
}

class Ctl : public Verb {
 public:
  void Declare(Options* options) override {
    options->Positional("start|stop|toggle|snapshot|status", &action_, "What to do");
    options->Positionals("PID", &pids_, "Processes, or all");
    options->Flag("--json", &json_, "Print JSON");
  }

  int Execute(const Options&) override {
    const std::vector<std::string> actions = {proto::kVerbStart, proto::kVerbStop,
                                              proto::kVerbToggle, proto::kVerbSnapshot,
                                              proto::kVerbStatus};
    bool known = false;
    for (const std::string& action : actions) known = known || action == action_;
    if (!known) {
      Say("'" + action_ + "' is not an action; choose start, stop, toggle, snapshot or status." +
          DidYouMean(action_, actions));
      return kExitUsage;
    }
    std::vector<int32_t> wanted;
    endpoints_ = FindEndpoints();
    if (!ParsePids(&wanted)) return kExitUsage;
    request_ = RequestOf(action_);
    AskAll(wanted);
    // Sockets may be there of processes that are not.
    if (!was_anybody_) {
      if (all_) Say("no process of yours carries gpuprof now; 'gpuprof run -- COMMAND' starts one");
      exit_ = kExitUnreadable;
    }
    Print();
    return exit_;
  }

 private:
  // Signals by name; --json has the numbers.
  static std::string Shown(const std::string& key, const std::string& value) {
    if (key != proto::kKeySignal) return value;
    const int number = std::atoi(value.c_str());
    if (number == 0) return "none";
    return number == SIGUSR1 ? "SIGUSR1" : number == SIGUSR2 ? "SIGUSR2" : value;
  }

  bool ParsePids(std::vector<int32_t>* wanted) {
    for (const std::string& text : pids_) {
      int32_t pid = 0;
      const auto result = std::from_chars(text.data(), text.data() + text.size(), pid);
      if (text == "all") {
        for (const Endpoint& endpoint : endpoints_) {
          if (wanted->empty() || wanted->back() != endpoint.pid) wanted->push_back(endpoint.pid);
        }
        all_ = true;
      } else if (result.ec == std::errc() && result.ptr == text.data() + text.size() && pid > 0) {
        wanted->push_back(pid);
      } else {
        Say("'" + text + "' is not a process number; write a PID from 'gpuprof ps', or all");
        return false;
      }
    }
    return true;
  }

  static uint64_t NowMs() { return proto::ReadClockNs(CLOCK_MONOTONIC) / 1'000'000; }

  // The limit is one for the whole verb.
  int LeftMs() const {
    const uint64_t now = NowMs();
    return now < end_ms_ ? static_cast<int>(end_ms_ - now) : 0;
  }

  void AskAll(const std::vector<int32_t>& wanted) {
    end_ms_ = NowMs() + static_cast<uint64_t>(action_ == proto::kVerbStatus ? kStatusTimeoutMs
                                                                            : kChangeTimeoutMs);
    young_end_ms_ = NowMs() + kYoungTimeoutMs;
    std::vector<std::vector<Endpoint>> processes;
    for (const int32_t pid : wanted) processes.push_back(NamesOf(endpoints_, pid));
    std::vector<Answer> answers = AskTogether(processes, request_, LeftMs());
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!IsThere(answers[i])) AwaitYoung(wanted[i], &answers[i]);
      Take(wanted[i], answers[i]);
    }
  }

  static bool IsThere(const Answer& answer) {
    return answer.kind != Answer::Kind::kNobody && answer.kind != Answer::Kind::kForeign;
  }

  // A process that has only just begun opens its socket in a moment. Of all, it ended between
  // listing and asking.
  void AwaitYoung(int32_t pid, Answer* answer) {
    while (!all_ && !IsThere(*answer) && NowMs() < young_end_ms_ && LoadsRecorder(pid)) {
      usleep(kYoungPauseMs * 1000);
      endpoints_ = FindEndpoints();
      const std::vector<Endpoint> names = NamesOf(endpoints_, pid);
      if (!names.empty()) *answer = AskTogether({names}, request_, LeftMs()).front();
    }
  }

  void Take(int32_t pid, const Answer& answer) {
    if (!IsThere(answer)) {
      if (all_) return;
      const bool is_foreign = answer.kind == Answer::Kind::kForeign && LoadsRecorder(pid);
      Say(is_foreign ? "process " + std::to_string(pid) + ": " + answer.error
                     : WhyNoSocket(pid) + WhoHasNumber(pid));
      exit_ = kExitUnreadable;
      return;
    }
    was_anybody_ = true;
    if (answer.kind != Answer::Kind::kOk) {
      Say("process " + std::to_string(pid) + ": " + answer.error);
      exit_ =
          std::max(exit_, answer.kind == Answer::Kind::kRefused ? kExitFindings : kExitUnreadable);
    }
    if (!answer.values.empty()) answers_.push_back(answer);
  }

  // Numbers in containers are no numbers here, but people see them there.
  std::string WhoHasNumber(int32_t own_pid) const {
    for (const Endpoint& endpoint : endpoints_) {
      if (endpoint.own_pid == own_pid && endpoint.pid != own_pid)
        return ". Process " + std::to_string(endpoint.pid) + " has the number " +
               std::to_string(own_pid) + " in its namespace; here it is asked by " +
               std::to_string(endpoint.pid);
    }
    return "";
  }

  void Print() const {
    if (json_) return PutOut(JsonText(ProcessesJson(answers_)));
    std::string text;
    for (const Answer& answer : answers_) {
      if (action_ == proto::kVerbStatus) {
        if (!text.empty()) text += "\n";
        for (const auto& [key, value] : answer.values) {
          if (key == kKeyNamespacePid) continue;
          text +=
              key + ": " + (key == proto::kKeyPid ? PidWords(answer) : Shown(key, value)) + "\n";
        }
      } else if (action_ == proto::kVerbSnapshot && !answer.Get(proto::kKeySnapshot).empty()) {
        text += PidWords(answer) + ": " + ShortPath(answer.Get(proto::kKeySnapshot)) + "\n";
      } else {
        text += PidWords(answer) + ": " + DescribeChange(answer) + "\n";
      }
    }
    PutOut(text);
  }

  std::string action_;
  std::string request_;
  std::vector<std::string> pids_;
  bool json_ = false;
  bool all_ = false;
  bool was_anybody_ = false;
  int exit_ = kExitOk;
  uint64_t end_ms_ = 0;
  uint64_t young_end_ms_ = 0;
  std::vector<Endpoint> endpoints_;
  std::vector<Answer> answers_;
};

}  // namespace

std::unique_ptr<Verb> MakeCtl() { return std::make_unique<Ctl>(); }

}  // namespace gpuprof::launcher
