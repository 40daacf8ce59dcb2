// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See control_client.h.

#include "launcher/control/control_client.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "analysis/analysis.h"
#include "launcher/base/read_file.h"
#include "launcher/control/conversation.h"
#include "launcher/control/dormant.h"
#include "launcher/control/process_numbers.h"
#include "launcher/record/bundle.h"
#include "proto/codec/recover.h"
#include "proto/contract.h"
#include "proto/control.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

bool MayAsk(uint32_t uid) { return geteuid() == 0 || uid == geteuid(); }

// Reads "gpuprof-<uid>".
bool ParseSocketFolder(const std::string& name, uint32_t* uid) {
  const std::string prefix = proto::kSocketFolder;
  if (name.compare(0, prefix.size(), prefix) != 0) return false;
  const auto result = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), *uid);
  return result.ec == std::errc() && result.ptr == name.data() + name.size();
}

// `is_foreign`: of another mount namespace, and perhaps of another user namespace.
void FindInFolder(const std::string& runtime, bool is_foreign, std::vector<Endpoint>* found) {
  for (const std::string& name : ListFolder(runtime)) {
    uint32_t uid = 0;
    struct stat info;
    const std::string folder = runtime + "/" + name;
    if (!ParseSocketFolder(name, &uid)) continue;
    // In /tmp anybody can make a folder of this name; its owner tells whose it is. In a container
    // users may have other numbers than here.
    if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    if (!MayAsk(info.st_uid) || (info.st_uid != uid && !is_foreign)) continue;
    for (const std::string& socket : ListFolder(folder)) {
      Endpoint endpoint;
      if (!socket.ends_with(proto::kSocketSuffix) || !ParseEndpointName(socket, &endpoint))
        continue;
      endpoint.uid = info.st_uid;
      endpoint.address = folder + "/" + socket;
      found->push_back(endpoint);
    }
  }
}

void FindAbstract(const std::string& unix_table, std::vector<Endpoint>* found) {
  std::ifstream table(unix_table);
  for (std::string line; std::getline(table, line);) {
    const size_t at = line.find('@');
    if (at == std::string::npos) continue;
    const std::string address = line.substr(at + 1);
    const size_t slash = address.find('/');
    Endpoint endpoint;
    if (slash == std::string::npos || !ParseSocketFolder(address.substr(0, slash), &endpoint.uid) ||
        !MayAsk(endpoint.uid))
      continue;
    if (!ParseEndpointName(address.substr(slash + 1), &endpoint)) continue;
    endpoint.address = address;
    endpoint.is_abstract = true;
    found->push_back(endpoint);
  }
}

// How long is waited before a look at whether a process is stopped.
constexpr uint64_t kLookMs = 2'000;
// How often a full queue is tried again, and how long if its owner is not known.
constexpr uint64_t kTryMs = 10, kAbstractMs = 300;

uint64_t NowMs() { return proto::ReadClockNs(CLOCK_MONOTONIC) / 1'000'000; }

using Conversations = std::vector<std::unique_ptr<Conversation>>;

// Reads what comes within this time.
void ReceiveSome(const Conversations& all, uint64_t limit_ms) {
  std::vector<pollfd> waits;
  std::vector<Conversation*> asked;
  for (const auto& one : all) {
    if (one->is_done() || !one->is_asked()) continue;
    waits.push_back({one->fd(), POLLIN, 0});
    asked.push_back(one.get());
  }
  if (poll(waits.data(), waits.size(), static_cast<int>(limit_ms)) <= 0) return;
  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].revents != 0) asked[i]->Receive();
  }
}

// Returns whether some are not done. `has_waiting`: some could not be asked yet.
bool AreSomeLeft(const Conversations& all, bool* has_waiting) {
  bool left = false;
  *has_waiting = false;
  for (const auto& one : all) {
    left = left || !one->is_done();
    *has_waiting = *has_waiting || (!one->is_done() && !one->is_asked());
  }
  return left;
}

void Hold(const Conversations& all, uint64_t begin, uint64_t end) {
  uint64_t next_look = begin + kLookMs;
  bool has_waiting = false;
  for (const auto& one : all) one->Try(false);
  for (uint64_t now = NowMs(); AreSomeLeft(all, &has_waiting) && now < end; now = NowMs()) {
    const uint64_t until = std::min(end, next_look);
    const uint64_t left = until > now ? until - now : 0;
    ReceiveSome(all, has_waiting ? std::min(left, kTryMs) : left);
    now = NowMs();
    for (const auto& one : all) {
      if (!one->is_done() && !one->is_asked()) one->Try(now >= begin + kAbstractMs);
      if (now >= next_look) one->LookWhetherStopped();
    }
    if (now >= next_look) next_look = now + kLookMs;
  }
}

}  // namespace

bool IsStopped(int32_t pid) {
  const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const size_t end = stat.rfind(") ");
  return end != std::string::npos && end + 2 < stat.size() &&
         (stat[end + 2] == 'T' || stat[end + 2] == 't');
}

bool ParseEndpointName(const std::string& name, Endpoint* endpoint) {
  const size_t dash = name.find('-');
  size_t end = name.size();
  if (name.ends_with(proto::kSocketSuffix)) end -= strlen(proto::kSocketSuffix);
  if (dash == std::string::npos || dash + 1 >= end) return false;
  const char* text = name.data();
  const auto pid = std::from_chars(text, text + dash, endpoint->pid);
  const auto start = std::from_chars(text + dash + 1, text + end, endpoint->start_id, 16);
  endpoint->own_pid = endpoint->pid;
  return pid.ec == std::errc() && pid.ptr == text + dash && start.ec == std::errc() &&
         start.ptr == text + end && endpoint->pid > 0;
}

std::vector<Endpoint> FindSockets(const std::vector<std::string>& folders,
                                  const std::string& unix_table) {
  std::vector<Endpoint> found;
  for (const std::string& folder : folders)
    FindInFolder(folder, folder.starts_with("/proc/"), &found);
  FindAbstract(unix_table, &found);
  std::sort(found.begin(), found.end(), [](const Endpoint& a, const Endpoint& b) {
    return a.pid != b.pid             ? a.pid < b.pid
           : a.start_id != b.start_id ? a.start_id > b.start_id
                                      : a.address < b.address;
  });
  const auto same = [](const Endpoint& a, const Endpoint& b) { return a.address == b.address; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

namespace {

std::vector<std::string> RuntimeFolders() {
  std::vector<std::string> folders = {"/tmp"};
  const auto add = [&](const std::string& folder) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  };
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && runtime[0] == '/')
    add(runtime);
  // Another login session's processes may have had the variable where this one has not.
  for (const std::string& name : ListFolder("/run/user")) {
    if (name[0] != '.') add("/run/user/" + name);
  }
  return folders;
}

}  // namespace

namespace {

constexpr char kUnixTable[] = "/proc/net/unix";

}  // namespace

std::vector<Endpoint> FindSocketsOf(const Endpoint& process) {
  std::vector<std::string> folders = RuntimeFolders();
  for (std::string& folder : OtherTemporaryFolders(process.pid))
    folders.push_back(std::move(folder));
  std::vector<Endpoint> found = FindSockets(folders, kUnixTable);
  std::erase_if(found,
                [&process](const Endpoint& each) { return each.own_pid != process.own_pid; });
  FindListeners(&found);
  std::erase_if(found, [&process](const Endpoint& each) { return each.pid != process.pid; });
  return found;
}

std::vector<Endpoint> FindEndpoints() {
  std::vector<Endpoint> found = FindDormant();
  std::vector<std::string> folders = RuntimeFolders();
  for (std::string& folder : OtherTemporaryFolders()) folders.push_back(std::move(folder));
  std::vector<Endpoint> sockets = FindSockets(folders, kUnixTable);
  FindListeners(&sockets);
  found.insert(found.end(), sockets.begin(), sockets.end());
  std::stable_sort(found.begin(), found.end(),
                   [](const Endpoint& a, const Endpoint& b) { return a.pid < b.pid; });
  return found;
}

std::string Answer::Get(const char* key) const {
  for (const auto& [name, value] : values) {
    if (name == key) return value;
  }
  return "";
}

// The answer is printed, to root's terminal too: no text of it may be a command to a terminal. The
// pid is the one by which the process was asked: shells complete it.
void ParseAnswer(const std::string& text, const Endpoint& process, Answer* answer) {
  std::istringstream lines(text);
  answer->kind = Answer::Kind::kUnreachable;
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = analysis::OneLine(line.substr(0, equals));
    const std::string value = analysis::OneLine(line.substr(equals + 1));
    if (key == proto::kKeyResult) {
      answer->kind = value == "ok" ? Answer::Kind::kOk : Answer::Kind::kRefused;
    } else if (key == proto::kKeyError) {
      answer->error = value;
    } else if (key == proto::kKeyPid) {
      answer->values.emplace_back(key, std::to_string(process.pid));
      answer->values.emplace_back(kKeyNamespacePid, std::to_string(process.own_pid));
    } else if (key != kKeyNamespacePid) {
      answer->values.emplace_back(key, value);
    }
  }
  if (answer->kind == Answer::Kind::kUnreachable) {
    answer->error =
        "gave an answer that this version does not understand; use the gpuprof it was started with";
  }
}

std::string PidWords(const Answer& answer) {
  const std::string pid = answer.Get(proto::kKeyPid), own = answer.Get(kKeyNamespacePid);
  return own.empty() || own == pid ? pid : pid + " (" + own + " in its namespace)";
}

std::vector<Answer> AskTogether(const std::vector<std::vector<Endpoint>>& processes,
                                const std::string& verb, int timeout_ms) {
  const uint64_t begin = NowMs();
  const uint64_t end = begin + static_cast<uint64_t>(timeout_ms);
  const auto is_dormant = [](const Endpoint& name) { return name.wake_up_signal != 0; };
  std::vector<Answer> answers;
  Conversations all;
  for (const std::vector<Endpoint>& names : processes) {
    std::vector<Endpoint> sockets;
    std::remove_copy_if(names.begin(), names.end(), std::back_inserter(sockets), is_dormant);
    // /proc is sure about a dormant process. Sockets of its number are leftovers, or another
    // user's.
    if (std::any_of(names.begin(), names.end(), is_dormant)) sockets.clear();
    all.push_back(std::make_unique<Conversation>(sockets, verb));
  }
  Hold(all, begin, end);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->GiveUp(timeout_ms);
    answers.push_back(all[i]->answer());
    const auto dormant = std::find_if(processes[i].begin(), processes[i].end(), is_dormant);
    if (dormant == processes[i].end()) continue;
    const uint64_t now = NowMs();
    answers.back() = AskDormant(*dormant, verb, now < end ? static_cast<int>(end - now) : 0);
  }
  return answers;
}

Answer Ask(const Endpoint& endpoint, const std::string& verb, int timeout_ms) {
  return AskTogether({{endpoint}}, verb, timeout_ms).front();
}

std::vector<Endpoint> NamesOf(const std::vector<Endpoint>& endpoints, int32_t pid) {
  std::vector<Endpoint> names;
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.pid == pid) names.push_back(endpoint);
  }
  return names;
}

std::string RequestOf(const std::string& action) {
  if (action != proto::kVerbSnapshot) return action;
  const time_t now = time(nullptr);
  tm utc = {};
  gmtime_r(&now, &utc);
  char name[32];
  strftime(name, sizeof name, "%Y%m%dT%H%M%SZ", &utc);
  return action + " " + name;
}

std::string DescribeChange(const Answer& answer) {
  return answer.Get(proto::kKeyState) + ", captures " + answer.Get(proto::kKeyCaptures) +
         ", events " + answer.Get(proto::kKeyEvents) + ", lost " + answer.Get(proto::kKeyLost);
}

std::vector<int32_t> LiveProcesses(const std::vector<Endpoint>& endpoints,
                                   const std::string& bundle) {
  constexpr int kTimeoutMs = 500;
  const std::string shown = analysis::OneLine(bundle);
  std::vector<std::vector<Endpoint>> own;
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.uid == geteuid()) own.push_back({endpoint});
  }
  std::vector<int32_t> pids;
  const std::vector<Answer> answers = AskTogether(own, proto::kVerbStatus, kTimeoutMs);
  for (size_t i = 0; i < own.size(); ++i) {
    if (answers[i].kind == Answer::Kind::kOk && answers[i].Get(proto::kKeyBundle) == shown)
      pids.push_back(own[i].front().pid);
  }
  return pids;
}

void RemoveStale(const Endpoint& endpoint) {
  struct stat info;
  if (endpoint.is_abstract || endpoint.address.empty() || endpoint.uid != geteuid() ||
      codec::ProcessIsAlive(endpoint.own_pid, endpoint.start_id))
    return;
  if (lstat(endpoint.address.c_str(), &info) == 0 && S_ISSOCK(info.st_mode) &&
      info.st_uid == geteuid())
    unlink(endpoint.address.c_str());
  // The last one's folder goes too. Fails while there are others.
  rmdir(endpoint.address.substr(0, endpoint.address.rfind('/')).c_str());
}

void RemoveSocketsOfTheDead(const std::vector<ProcessFiles>& processes) {
  for (const ProcessFiles& process : processes) {
    char name[64];
    std::snprintf(name, sizeof name, "%d-%llx%s", process.pid,
                  static_cast<unsigned long long>(process.start_id), proto::kSocketSuffix);
    for (const std::string& runtime : RuntimeFolders()) {
      Endpoint endpoint;
      endpoint.uid = geteuid();
      endpoint.pid = endpoint.own_pid = process.pid;
      endpoint.start_id = process.start_id;
      endpoint.address =
          runtime + "/" + proto::kSocketFolder + std::to_string(geteuid()) + "/" + name;
      RemoveStale(endpoint);
    }
  }
}

}  // namespace gpuprof::launcher
