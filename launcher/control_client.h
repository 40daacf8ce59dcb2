// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The outside end of the control sockets (proto/control.h): finds the sockets of running processes
// and asks them. Called by ctl and ps. Every wait has an end; nothing that another user could have
// put there is trusted.

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
  std::vector<std::pair<std::string, std::string>> values;  // as sent, without result and error
  std::string Get(const char* key) const;
};

Answer Ask(const Endpoint& endpoint, const std::string& verb, int timeout_ms);

// Running processes whose traces go to this bundle.
std::vector<int32_t> LiveProcesses(const std::string& bundle);

// Removes the socket file of a process that no longer lives, if it is ours.
void RemoveStale(const Endpoint& endpoint);

}  // namespace gpuprof::launcher
