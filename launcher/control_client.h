// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The outside end of the control sockets (proto/control.h): finds the sockets of running processes
// and asks them. Called by ctl, ps and run. Every wait has an end, and so has all that is waited
// for of one process together; nothing that another user could have put there is trusted.

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
};

// "<pid>-<start>" with an optional ".sock".
bool ParseEndpointName(const std::string& name, Endpoint* endpoint);

// Sockets of this user, and as root those of every user, newest first for each pid. `folders`:
// runtime directories to look in.
std::vector<Endpoint> FindEndpoints(const std::vector<std::string>& folders,
                                    const std::string& unix_table);
std::vector<Endpoint> FindEndpoints();

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

// `timeout_ms`: from the call to the last byte of the answer.
Answer Ask(const Endpoint& endpoint, const std::string& verb, int timeout_ms);

// Of these the processes that run and whose traces go to this bundle. Other users' are not asked: a
// command's end waits for nobody but its own user's.
std::vector<int32_t> LiveProcesses(const std::vector<Endpoint>& endpoints,
                                   const std::string& bundle);

// Removes the socket file of a process that no longer lives, if it is ours.
void RemoveStale(const Endpoint& endpoint);

}  // namespace gpuprof::launcher
