// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See folder_processes.h.

#include "launcher/serve/folder_processes.h"

#include <sys/stat.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "launcher/base/read_file.h"
#include "launcher/control/control_client.h"
#include "launcher/record/bundle.h"
#include "launcher/serve/page_files.h"
#include "proto/control.h"
#include "proto/secret_words.h"

namespace gpuprof::launcher {
namespace {

constexpr std::chrono::seconds kPause(1);
constexpr int kStatusTimeoutMs = 500;
constexpr int kMostActions = 8;  // each takes a connection
constexpr size_t kMostCommandBytes = 200;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

// Returns the bundle that a process records into: the whole one of a job, not its rank's folder.
std::string WholeBundle(const std::string& bundle) {
  return IsPartName(LastPart(bundle)) ? FolderOf(bundle) : bundle;
}

// Returns the command line, as it is recorded: secrets are masked.
std::string CommandOf(int32_t pid) {
  const std::string words = ReadFile("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
  proto::SecretMask mask;
  std::string command;
  for (size_t at = 0; at < words.size() && command.size() < kMostCommandBytes;) {
    const size_t end = std::min(words.find('\0', at), words.size());
    if (at == 0) {
      command = words.substr(0, end);
    } else {
      command += " ";
      mask.Next(words.data() + at, end - at,
                [&](const char* text, size_t bytes) { command.append(text, bytes); });
    }
    at = end + 1;
  }
  command = analysis::OneLine(command);
  if (command.size() > kMostCommandBytes) command.resize(kMostCommandBytes);
  return command;
}

// A page says "recording", as people do.
std::string StateOf(const Answer& answer) {
  std::string state = answer.Get(proto::kKeyState);
  return state == "capturing" ? "recording" : state;
}

std::vector<Endpoint> OwnEndpoints() {
  std::vector<Endpoint> own = FindEndpoints();
  std::erase_if(own, [](const Endpoint& endpoint) { return endpoint.uid != geteuid(); });
  return own;
}

}  // namespace

FolderProcessList::FolderProcessList(const std::string& folder) {
  struct stat status;
  is_there_ = stat((folder + "/").c_str(), &status) == 0;
  if (!is_there_) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

bool FolderProcessList::Holds(const std::string& bundle) const {
  struct stat status;
  return is_there_ && !bundle.empty() && bundle[0] == '/' &&
         stat(FolderOf(WholeBundle(bundle)).c_str(), &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

std::shared_ptr<const FolderProcesses> FolderProcessList::Look() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (processes_ != nullptr && now < looked_at_ + kPause) return processes_;
  std::vector<std::vector<Endpoint>> asked;
  for (const Endpoint& endpoint : OwnEndpoints()) {
    if (asked.empty() || asked.back().front().pid != endpoint.pid) asked.emplace_back();
    asked.back().push_back(endpoint);
  }
  auto found = std::make_shared<FolderProcesses>();
  const std::vector<Answer> answers = AskTogether(asked, proto::kVerbStatus, kStatusTimeoutMs);
  for (size_t i = 0; i < asked.size(); ++i) {
    const std::string bundle = answers[i].Get(proto::kKeyBundle);
    if (answers[i].kind != Answer::Kind::kOk || !Holds(bundle)) continue;
    std::string command = CommandOf(answers[i].peer);
    if (command.empty()) command = answers[i].Get(proto::kKeyProgram);
    found->push_back({asked[i].front().pid, std::move(command), StateOf(answers[i]),
                      LastPart(WholeBundle(bundle))});
  }
  processes_ = std::move(found);
  looked_at_ = std::chrono::steady_clock::now();
  return processes_;
}

Change FolderProcessList::Do(const std::string& action, int32_t pid) {
  struct Turn {
    explicit Turn(std::atomic<int>* busy) : count(busy), number(++*busy) {}
    ~Turn() { --*count; }
    std::atomic<int>* count;
    int number;
  };
  const Turn turn(&busy_);
  if (turn.number > kMostActions)
    return {Change::Kind::kBusy, "other actions are not done yet; try again"};
  const std::vector<Endpoint> names = NamesOf(OwnEndpoints(), pid);
  Answer status;
  status.kind = Answer::Kind::kNobody;
  if (!names.empty()) status = AskTogether({names}, proto::kVerbStatus, kStatusTimeoutMs).front();
  if (status.kind == Answer::Kind::kNobody || status.kind == Answer::Kind::kForeign ||
      (status.kind == Answer::Kind::kOk && !Holds(status.Get(proto::kKeyBundle)))) {
    return {Change::Kind::kNoProcess,
            "the process does not record into this folder; 'gpuprof ps' lists all processes"};
  }
  if (status.kind != Answer::Kind::kOk) return {Change::Kind::kRefused, status.error};
  const Answer answer = AskTogether({names}, RequestOf(action), kChangeTimeoutMs).front();
  {
    // The next look shall see the new state.
    const std::lock_guard lock(mutex_);
    processes_ = nullptr;
  }
  if (answer.kind != Answer::Kind::kOk) return {Change::Kind::kRefused, answer.error};
  const std::string snapshot = answer.Get(proto::kKeySnapshot);
  if (action == proto::kVerbSnapshot && !snapshot.empty())
    return {Change::Kind::kDone, "the snapshot is " + LastPart(snapshot)};
  return {Change::Kind::kDone, DescribeChange(answer)};
}

}  // namespace gpuprof::launcher
