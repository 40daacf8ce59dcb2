// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof ps`: asks every control socket for its status; leftovers of dead processes are passed
// over and removed, names that other users have taken are passed over. Of one that lives and gives
// no answer /proc tells what it can.

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "analysis/analysis.h"
#include "launcher/attach/reachable.h"
#include "launcher/base/json_text.h"
#include "launcher/base/text.h"
#include "launcher/command.h"
#include "launcher/control/control_client.h"
#include "launcher/control/process_json.h"
#include "launcher/record/program.h"
#include "proto/control.h"

namespace gpuprof::launcher {
namespace {

constexpr int kTimeoutMs = 2'000;

std::string ProgramOf(int32_t pid) {
  char path[4096];
  const ssize_t length =
      readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path);
  return length <= 0 ? "" : BaseName(std::string(path, static_cast<size_t>(length)));
}

// Gives an answer for a process that gave none.
void Describe(const Endpoint& endpoint, Answer* answer) {
  answer->values = {{proto::kKeyPid, std::to_string(endpoint.pid)},
                    {kKeyNamespacePid, std::to_string(endpoint.own_pid)},
                    {proto::kKeyState, IsStopped(answer->peer) ? "stopped" : "unresponsive"},
                    {proto::kKeyProgram, analysis::OneLine(ProgramOf(answer->peer))}};
}

class Ps : public Verb {
 public:
  void Declare(Options* options) override {
    options->Flag("--why", &why_,
                  "List every process: whether it can be recorded as it runs, and if not, why");
    options->Flag("--json", &json_, "Print JSON");
  }

  int Execute(const Options&) override {
    if (why_) {
      const std::vector<Reachable> processes = FindReachable();
      PutOut(json_ ? ReachableJson(processes) : ReachableText(processes));
      return kExitOk;
    }
    std::vector<Answer> answers;
    bool has_others = false;
    std::vector<std::vector<Endpoint>> processes;
    for (const Endpoint& endpoint : FindEndpoints()) processes.push_back({endpoint});
    const std::vector<Answer> all = AskTogether(processes, proto::kVerbStatus, kTimeoutMs);
    for (size_t i = 0; i < all.size(); ++i) {
      const Endpoint& endpoint = processes[i].front();
      Answer answer = all[i];
      if (answer.kind == Answer::Kind::kOk) {
        answers.push_back(answer);
      } else if (answer.kind != Answer::Kind::kNobody && answer.kind != Answer::Kind::kForeign) {
        Say("process " + std::to_string(endpoint.pid) + ": " + answer.error);
        has_others = true;
        if (answer.peer == 0) continue;
        Describe(endpoint, &answer);
        answers.push_back(answer);
      }
    }
    if (json_) {
      PutOut(JsonText(ProcessesJson(answers)));
    } else if (answers.empty() && has_others) {
      return kExitOk;  // there are some, and why they are not listed has been said
    } else if (answers.empty()) {
      Say("no running process has gpuprof in it; start one with 'gpuprof run -- COMMAND'");
    } else {
      PutOut(Table(answers));
    }
    return kExitOk;
  }

 private:
  static std::string Table(const std::vector<Answer>& answers) {
    struct Column {
      const char* title;
      const char* key;
      bool right;
    };
    constexpr Column kColumns[] = {
        {"PID", proto::kKeyPid, true},           {"STATE", proto::kKeyState, false},
        {"CAPTURES", proto::kKeyCaptures, true}, {"EVENTS", proto::kKeyEvents, true},
        {"LOST", proto::kKeyLost, true},         {"PROGRAM", proto::kKeyProgram, false},
        {"BUNDLE", proto::kKeyBundle, false}};
    std::string table;
    std::vector<std::string> lines(answers.size() + 1);
    for (const Column& column : kColumns) {
      std::vector<std::string> cells = {column.title};
      size_t width = 0;
      for (const Answer& answer : answers) {
        const bool is_pid = std::string_view(column.key) == proto::kKeyPid;
        cells.push_back(is_pid ? PidWords(answer) : answer.Get(column.key));
      }
      for (const std::string& cell : cells) width = std::max(width, cell.size());
      for (size_t i = 0; i < cells.size(); ++i) {
        const std::string padding(width - cells[i].size(), ' ');
        lines[i] += (lines[i].empty() ? "" : "  ") +
                    (column.right ? padding + cells[i] : cells[i] + padding);
      }
    }
    for (const std::string& line : lines)
      table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    return table;
  }

  bool json_ = false;
  bool why_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakePs() { return std::make_unique<Ps>(); }

}  // namespace gpuprof::launcher
