// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The outside end of the control sockets (proto/control.h): finds the sockets of running processes
// and asks the processes. Called by ctl, ps and run. Every wait has an end, and so have all waits
// for one process together. Nothing that another user could have put there is trusted.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::launcher {

struct Endpoint {
  int32_t pid = 0;
  uint64_t start_id = 0;
  uint32_t uid = 0;     // whose process it claims to be; checked against the peer
  std::string address;  // path, or abstract name without its leading zero
  bool is_abstract = false;
  int wake_up_signal = 0;  // not 0: the process is dormant and has no address (launcher/dormant.h)
};

// Reads "<pid>-<start>" with an optional ".sock".
bool ParseEndpointName(const std::string& name, Endpoint* endpoint);

// Finds the sockets of this user (as root, of every user), newest first for each pid. `folders`:
// runtime directories to look in.
std::vector<Endpoint> FindSockets(const std::vector<std::string>& folders,
                                  const std::string& unix_table);
std::vector<Endpoint> FindSockets();

// Finds the sockets, and the dormant processes, which have no socket.
std::vector<Endpoint> FindEndpoints();

// Returns whether the process is stopped, by a signal or a debugger.
bool IsStopped(int32_t pid);

struct Answer {
  enum class Kind { kOk, kRefused, kUnreachable, kNobody } kind = Kind::kUnreachable;
  std::string error;  // cause and fix, unless kOk; kNobody: the socket's process is gone
  int32_t peer = 0;   // the process that listens, by its number here; 0: none, or not the user's
  // As sent, without result and error; each fit to be printed (analysis::OneLine).
  std::vector<std::pair<std::string, std::string>> values;
  std::string Get(const char* key) const;
};

// Reads what a process has answered. `pid` is the number by which it was asked.
void ParseAnswer(const std::string& text, int32_t pid, Answer* answer);

// Asks a process. `timeout_ms` is the time from the call to the last byte of the answer.
Answer Ask(const Endpoint& endpoint, const std::string& verb, int timeout_ms);

// Returns the processes of `endpoints` that run and whose traces go to this bundle. Other users'
// processes are not asked: a command's end waits only for its own user's.
std::vector<int32_t> LiveProcesses(const std::vector<Endpoint>& endpoints,
                                   const std::string& bundle);

// Removes the socket file of a process that no longer lives, if it belongs to this user.
void RemoveStale(const Endpoint& endpoint);

}  // namespace gpuprof::launcher
