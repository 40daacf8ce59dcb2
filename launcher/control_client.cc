// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See control_client.h.

#include "launcher/control_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "analysis/analysis.h"
#include "launcher/dormant.h"
#include "launcher/read_file.h"
#include "proto/codec/recover.h"
#include "proto/contract.h"
#include "proto/control.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostAnswer = 64 * 1024;

// "gpuprof-<uid>" of a user whose processes we may ask.
bool ParseSocketFolder(const std::string& name, uint32_t* uid) {
  const std::string prefix = proto::kSocketFolder;
  if (name.compare(0, prefix.size(), prefix) != 0) return false;
  const auto result = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), *uid);
  const bool whole = result.ec == std::errc() && result.ptr == name.data() + name.size();
  return whole && (geteuid() == 0 || *uid == geteuid());
}

void FindInFolder(const std::string& runtime, std::vector<Endpoint>* found) {
  for (const std::string& name : ListFolder(runtime)) {
    uint32_t uid = 0;
    struct stat info;
    const std::string folder = runtime + "/" + name;
    if (!ParseSocketFolder(name, &uid)) continue;
    // In /tmp anybody can make a folder of this name; its owner tells whose it is.
    if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != uid) continue;
    for (const std::string& socket : ListFolder(folder)) {
      Endpoint endpoint;
      if (!socket.ends_with(proto::kSocketSuffix) || !ParseEndpointName(socket, &endpoint))
        continue;
      endpoint.uid = uid;
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
    if (slash == std::string::npos || !ParseSocketFolder(address.substr(0, slash), &endpoint.uid))
      continue;
    if (!ParseEndpointName(address.substr(slash + 1), &endpoint)) continue;
    endpoint.address = address;
    endpoint.is_abstract = true;
    found->push_back(endpoint);
  }
}

// Owns a descriptor.
class Socket {
 public:
  Socket() : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Of everything that one process is waited for: one that sends a byte now and then would otherwise
// be waited for as long as it likes.
class Deadline {
 public:
  explicit Deadline(int timeout_ms)
      : end_ns_(proto::ReadClockNs(CLOCK_MONOTONIC) +
                static_cast<uint64_t>(timeout_ms) * 1'000'000) {}

  // Makes the socket's next wait (SO_RCVTIMEO, SO_SNDTIMEO) end then, or after `most_ms`. False: it
  // has passed.
  bool Limit(int fd, int option, uint64_t most_ms = UINT32_MAX) const {
    const uint64_t now_ns = proto::ReadClockNs(CLOCK_MONOTONIC);
    if (now_ns >= end_ns_) return false;
    // Nothing left of a microsecond would mean that it need never end.
    const uint64_t left_us = std::min((end_ns_ - now_ns) / 1'000 + 1, most_ms * 1'000);
    const timeval limit = {static_cast<time_t>(left_us / 1'000'000),
                           static_cast<suseconds_t>(left_us % 1'000'000)};
    setsockopt(fd, SOL_SOCKET, option, &limit, sizeof limit);
    return true;
  }

 private:
  uint64_t end_ns_;
};

// How long is waited before a look at whether the process is stopped.
constexpr uint64_t kLookMs = 2'000;

// ECANCELED: it is stopped, and so many have asked it since that nobody else can.
int Connect(int fd, const Endpoint& endpoint, const Deadline& deadline) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const size_t lead = endpoint.is_abstract ? 1 : 0;
  if (endpoint.address.size() + lead >= sizeof address.sun_path) return ENAMETOOLONG;
  memcpy(address.sun_path + lead, endpoint.address.data(), endpoint.address.size());
  const size_t bytes = offsetof(sockaddr_un, sun_path) + lead + endpoint.address.size() +
                       (endpoint.is_abstract ? 0 : 1);
  while (deadline.Limit(fd, SO_SNDTIMEO, kLookMs)) {
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(bytes)) ==
        0)
      return 0;
    if (errno == EAGAIN && IsStopped(endpoint.pid)) return ECANCELED;
    if (errno != EINTR && errno != EAGAIN) return errno;
  }
  return EAGAIN;
}

// False: it is not this user's.
bool FindPeer(int fd, uint32_t uid, int32_t* pid) {
  ucred peer = {};
  socklen_t bytes = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.uid != uid) return false;
  *pid = peer.pid;
  return true;
}

// What is asked of a process can take long, but a stopped one does not even begin with it.
// ECANCELED: it is one.
int Exchange(int fd, int32_t peer, const std::string& verb, const Deadline& deadline,
             std::string* answer) {
  const std::string line = verb + "\n";
  if (!deadline.Limit(fd, SO_SNDTIMEO)) return EAGAIN;
  if (send(fd, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
    return errno;
  char buffer[4096];
  while (answer->size() < kMostAnswer) {
    if (!deadline.Limit(fd, SO_RCVTIMEO, kLookMs)) return EAGAIN;
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got == 0) return 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN && IsStopped(peer)) return ECANCELED;
    if (got < 0 && errno == EAGAIN) continue;
    if (got < 0) return errno;
    answer->append(buffer, static_cast<size_t>(got));
  }
  return EMSGSIZE;
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
  return pid.ec == std::errc() && pid.ptr == text + dash && start.ec == std::errc() &&
         start.ptr == text + end && endpoint->pid > 0;
}

std::vector<Endpoint> FindSockets(const std::vector<std::string>& folders,
                                  const std::string& unix_table) {
  std::vector<Endpoint> found;
  for (const std::string& folder : folders) FindInFolder(folder, &found);
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

std::vector<Endpoint> FindSockets() {
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
  return FindSockets(folders, "/proc/net/unix");
}

std::vector<Endpoint> FindEndpoints() {
  std::vector<Endpoint> found = FindDormant();
  const std::vector<Endpoint> sockets = FindSockets();
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
void ParseAnswer(const std::string& text, int32_t pid, Answer* answer) {
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
      answer->values.emplace_back(key, std::to_string(pid));
    } else {
      answer->values.emplace_back(key, value);
    }
  }
  if (answer->kind == Answer::Kind::kUnreachable) {
    answer->error =
        "gave an answer that this version does not understand; use the gpuprof it was started with";
  }
}

Answer Ask(const Endpoint& endpoint, const std::string& verb, int timeout_ms) {
  if (endpoint.wake_up_signal != 0) return AskDormant(endpoint, verb, timeout_ms);
  Answer answer;
  const Socket socket;
  const Deadline deadline(timeout_ms);
  int error = Connect(socket.get(), endpoint, deadline);
  bool is_gone = error == ECONNREFUSED || error == ENOENT;
  if (error == 0 && !FindPeer(socket.get(), endpoint.uid, &answer.peer)) error = EPERM;
  std::string text;
  if (error == 0) {
    error = Exchange(socket.get(), answer.peer, verb, deadline, &text);
    // It ended, or became another program, with our request in its queue.
    is_gone = error == EPIPE || error == ECONNRESET || (error == 0 && text.empty());
  }
  if (is_gone) {
    answer.kind = Answer::Kind::kNobody;
    answer.error = "is not listening any more; it may have ended";
    return answer;
  }
  if (error == 0) {
    ParseAnswer(text, endpoint.pid, &answer);
  } else if (error == ECANCELED) {
    answer.error =
        "did not answer, because it is stopped; after kill -CONT it may still carry out the "
        "request";
  } else if (error == EAGAIN) {
    answer.error = "did not answer within " + std::to_string(timeout_ms / 1000) +
                   " s; if it is stopped, continue it (kill -CONT) and try again; it may also hang";
  } else if (error == EACCES || error == EPERM) {
    answer.error = "belongs to another user; ask as that user or as root";
  } else {
    answer.error = std::string("could not be asked: ") + strerror(error);
  }
  return answer;
}

std::vector<int32_t> LiveProcesses(const std::vector<Endpoint>& endpoints,
                                   const std::string& bundle) {
  constexpr int kTimeoutMs = 500;
  const std::string shown = analysis::OneLine(bundle);
  std::vector<int32_t> pids;
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.uid != geteuid()) continue;
    const Answer answer = Ask(endpoint, proto::kVerbStatus, kTimeoutMs);
    if (answer.kind == Answer::Kind::kOk && answer.Get(proto::kKeyBundle) == shown) {
      pids.push_back(endpoint.pid);
    }
  }
  return pids;
}

void RemoveStale(const Endpoint& endpoint) {
  struct stat info;
  if (endpoint.is_abstract || endpoint.address.empty() ||
      codec::ProcessIsAlive(endpoint.pid, endpoint.start_id))
    return;
  if (lstat(endpoint.address.c_str(), &info) == 0 && S_ISSOCK(info.st_mode) &&
      info.st_uid == geteuid())
    unlink(endpoint.address.c_str());
}

}  // namespace gpuprof::launcher
