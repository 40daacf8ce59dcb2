// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The outside end of the control sockets (proto/control.h): finds the sockets of running processes
// and asks the processes. Called by ctl, ps and run. One time limit holds for all processes
// together. Nothing that another user could have put there is trusted.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::launcher {

struct ProcessFiles;  // launcher/record/bundle.h

struct Endpoint {
  int32_t pid = 0;      // the process's number for this caller
  int32_t own_pid = 0;  // and in the namespace where it lives: names of sockets and files have it
  uint64_t start_id = 0;
  uint32_t uid = 0;     // whose process it claims to be; checked against the peer
  std::string address;  // path, or abstract name without its leading zero
  bool is_abstract = false;
  std::vector<int>
      given_files;  // descriptors that go with the request (launcher/control/given_files.h)
  int wake_up_signal =
      0;  // not 0: the process is dormant and has no address (launcher/control/dormant.h)
};

// The key of an answer with the process's number in its own namespace.
inline constexpr char kKeyNamespacePid[] = "namespace_pid";

// Reads "<pid>-<start>" with an optional ".sock". Both numbers are the one of the name.
bool ParseEndpointName(const std::string& name, Endpoint* endpoint);

// Finds the sockets of this user (as root, of every user) by their names, newest first for each
// pid. `folders`: runtime directories to look in.
std::vector<Endpoint> FindSockets(const std::vector<std::string>& folders,
                                  const std::string& unix_table);
// Finds the sockets that one process may have opened, and who listens there.
std::vector<Endpoint> FindSocketsOf(const Endpoint& process);

// Finds the sockets and who listens there, and the dormant processes, which have no socket.
std::vector<Endpoint> FindEndpoints();

// Returns whether the process is stopped, by a signal or a debugger.
bool IsStopped(int32_t pid);

struct Answer {
  enum class Kind { kOk, kRefused, kUnreachable, kNobody, kForeign } kind = Kind::kUnreachable;
  // Cause and fix, unless kOk. kNobody: the socket's process is gone. kForeign: each name that is
  // left is another user's, and nothing was sent.
  std::string error;
  int32_t peer = 0;  // the process that listens, by its number here; 0: none, or not the user's
  // As sent, without result and error; each fit to be printed (analysis::OneLine).
  std::vector<std::pair<std::string, std::string>> values;
  std::string Get(const char* key) const;
};

// Reads what a process has answered. `process` is the name by which it was asked.
void ParseAnswer(const std::string& text, const Endpoint& process, Answer* answer);

// Returns the number of the process that answered, for people: "2139", or "2139 (3 in its
// namespace)".
std::string PidWords(const Answer& answer);

// Asks processes, all at once. Each element holds the names of one process, the best first. A name
// is asked only if the process itself listens there. `timeout_ms` is the time from the call to the
// last byte of the last answer. Removes leftovers of dead processes.
std::vector<Answer> AskTogether(const std::vector<std::vector<Endpoint>>& processes,
                                const std::string& verb, int timeout_ms);

// Asks one process by one name.
Answer Ask(const Endpoint& endpoint, const std::string& verb, int timeout_ms);

// Returns the names of one process, the best first. After an exec a pid may have sockets of earlier
// images, and other users may have taken its names.
std::vector<Endpoint> NamesOf(const std::vector<Endpoint>& endpoints, int32_t pid);

// Returns the request of an action. Processes that get one request write snapshots of one name, so
// that their files make one bundle.
std::string RequestOf(const std::string& action);

// How long an action may take: stop returns when everything is in the file, which a slow disk
// delays.
inline constexpr int kChangeTimeoutMs = 120'000;

// Returns one line about a process that has carried out an action.
std::string DescribeChange(const Answer& answer);

// Returns the processes of `endpoints` that run and whose traces go to this bundle. Other users'
// processes are not asked: a command's end waits only for its own user's.
std::vector<int32_t> LiveProcesses(const std::vector<Endpoint>& endpoints,
                                   const std::string& bundle);

// Removes the socket file of a process that no longer lives, if it belongs to this user, and its
// folder if it is empty then.
void RemoveStale(const Endpoint& endpoint);

// Removes the sockets that dead processes have left.
void RemoveSocketsOfTheDead(const std::vector<ProcessFiles>& processes);

}  // namespace gpuprof::launcher
