// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/control/dormant.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>

#include "analysis/analysis.h"
#include "launcher/base/read_file.h"
#include "launcher/control/given_files.h"
#include "launcher/control/process_numbers.h"
#include "proto/contract.h"
#include "proto/control.h"
#include "proto/obstacle.h"

namespace gpuprof::launcher {
namespace {

constexpr int kPauseMs = 5;

// Returns the signals of one line of a status file, as bits.
uint64_t SignalsOf(const std::string& status, const char* key) {
  const size_t at = status.find(std::string("\n") + key + ":");
  return at == std::string::npos
             ? 0
             : std::strtoull(status.c_str() + at + strlen(key) + 2, nullptr, 16);
}

uint64_t BitOf(int signal) { return uint64_t{1} << (signal - 1); }

bool IsBlockedNow(const std::string& proc, int signal) {
  for (const std::string& task : ListFolder(proc + "/task")) {
    const auto status = ReadFile(proc + "/task/" + task + "/status");
    if (status && (SignalsOf(*status, "SigBlk") & BitOf(signal)) == 0) return false;
  }
  return true;
}

// Tells whether no thread takes the signal, however long one looks. libc blocks all signals for a
// moment in pthread_create(), so a single look says nothing.
bool IsBlockedEverywhere(const std::string& proc, int signal) {
  constexpr int kLooks = 100;
  for (int look = 0; look < kLooks; ++look) {
    if (!IsBlockedNow(proc, signal)) return false;
    usleep(kPauseMs * 1000);
  }
  return true;
}

std::string VariableOf(const std::string& proc, const char* variable) {
  const std::string all = '\0' + ReadFile(proc + "/environ").value_or("") + '\0';
  const std::string entry = '\0' + std::string(variable) + "=";
  const size_t at = all.find(entry);
  return at == std::string::npos ? "" : std::string(all.c_str() + at + entry.size());
}

std::string ExecutableOf(const std::string& proc) {
  char path[4096];
  const ssize_t length = readlink((proc + "/exe").c_str(), path, sizeof path);
  const std::string whole(path, length <= 0 ? 0 : static_cast<size_t>(length));
  return whole.substr(whole.rfind('/') + 1);
}

// Reads "BEGIN-END PERMISSIONS OFFSET ...".
int SignalOfMapping(const std::string& line) {
  const size_t at = line.find(' ', line.find(' ') + 1);
  if (at == std::string::npos) return 0;
  const uint64_t offset = std::strtoull(line.c_str() + at, nullptr, 16);
  const uint64_t number = (offset - proto::kDormantOffset) / proto::kDormantUnit;
  return offset > proto::kDormantOffset && number <= 64 ? static_cast<int>(number) : 0;
}

// As the process itself would answer (proto/control.h).
void Describe(const std::string& proc, const Endpoint& endpoint, Answer* answer) {
  answer->values = {{proto::kKeyPid, std::to_string(endpoint.pid)},
                    {kKeyNamespacePid, std::to_string(endpoint.own_pid)},
                    {proto::kKeyState, "dormant"},
                    {proto::kKeyCaptures, "0"},
                    {proto::kKeyProgram, analysis::OneLine(ExecutableOf(proc))},
                    {proto::kKeyBundle, analysis::OneLine(VariableOf(proc, proto::kEnvBundle))},
                    {proto::kKeyEvents, "0"},
                    {proto::kKeyLost, "0"},
                    {proto::kKeySignal, std::to_string(endpoint.wake_up_signal)},
                    {proto::kKeyOps, "none"}};
}

bool IsThere(int32_t pid) { return kill(pid, 0) == 0; }

// Asks for the first capture of a process. Gives it files if it may not make them itself.
Answer AskFirst(std::vector<Endpoint>* names, const std::string& verb, int timeout_ms) {
  GivenFiles files;
  files.Make(names->front());
  for (Endpoint& name : *names) name.given_files = files.descriptors();
  Answer answer = AskTogether({*names}, verb, timeout_ms).front();
  files.RemoveUnused();
  return answer;
}

// Asks a process that has been woken, once its socket is there. False: no socket of its own came,
// or the process has ended.
bool AskWoken(const Endpoint& process, const std::string& verb, int socket_ms, int timeout_ms,
              Answer* answer) {
  for (int waited = 0; waited < socket_ms && IsThere(process.pid); waited += kPauseMs) {
    std::vector<Endpoint> names = FindSocketsOf(process);
    if (!names.empty()) *answer = AskFirst(&names, verb, timeout_ms);
    const bool is_asked = !names.empty() && answer->kind != Answer::Kind::kNobody &&
                          answer->kind != Answer::Kind::kForeign;
    if (is_asked) return true;
    usleep(kPauseMs * 1000);
  }
  return false;
}

// Sends the signal that wakes a dormant process. By a descriptor: the number may have become
// another process's since the process was found, and the signal could end that one. Returns an
// errno, or 0.
int SendWakeUp(const Endpoint& endpoint, const std::string& proc) {
  const int signal = endpoint.wake_up_signal;
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(proto::kWakeUpValue);
  const int process = static_cast<int>(syscall(SYS_pidfd_open, endpoint.pid, 0));
  if (process < 0 && errno != ENOSYS) return errno;
  int error = WakeUpSignal(proc) == signal ? 0 : ESRCH;
  if (error == 0) {
    // Linux before 5.3 has no such descriptors.
    const long sent = process < 0 ? sigqueue(endpoint.pid, signal, info.si_value)
                                  : syscall(SYS_pidfd_send_signal, process, signal, &info, 0);
    error = sent == 0 ? 0 : errno;
  }
  if (process >= 0) close(process);
  return error;
}

Answer Refused(const Endpoint& endpoint, const std::string& proc, const char* error) {
  Answer answer;
  answer.kind = Answer::Kind::kRefused;
  answer.peer = endpoint.pid;
  answer.error = error;
  Describe(proc, endpoint, &answer);
  return answer;
}

Answer Unreachable(int32_t peer, const std::string& error) {
  Answer answer;
  answer.peer = peer;
  answer.error = error;
  return answer;
}

// The kernel gives no thread to a process whose children belong to another PID namespace. Before
// the first child there is no such namespace to look at.
bool HasLeftNamespace(const std::string& proc) {
  struct stat own, link, childrens;
  const std::string path = proc + "/ns/pid_for_children";
  if (stat((proc + "/ns/pid").c_str(), &own) != 0 || lstat(path.c_str(), &link) != 0) return false;
  return stat(path.c_str(), &childrens) == 0 ? own.st_ino != childrens.st_ino : errno == ENOENT;
}

Answer Wake(const Endpoint& endpoint, const std::string& proc, const std::string& verb,
            int timeout_ms) {
  constexpr int kSocketMs = 10'000;
  if (HasLeftNamespace(proc)) {
    const proto::Cause cause = proto::ThreadCause(EINVAL);
    return Refused(endpoint, proc,
                   (std::string("cannot record: ") + cause.words + "; " + cause.remedy).c_str());
  }
  const int signal = endpoint.wake_up_signal;
  if (IsBlockedEverywhere(proc, signal)) {
    return Unreachable(endpoint.pid, "cannot be woken: it blocks signal " + std::to_string(signal) +
                                         " (" + strsignal(signal) +
                                         ") in all its threads; start it with another --signal");
  }
  const int error = SendWakeUp(endpoint, proc);
  if (error != 0 && error != ESRCH)
    return Unreachable(endpoint.pid, std::string("could not be woken: ") + strerror(error));
  Answer answer;
  if (AskWoken(endpoint, verb, std::min(timeout_ms, kSocketMs), timeout_ms, &answer)) return answer;
  if (!IsThere(endpoint.pid)) {
    answer.kind = Answer::Kind::kNobody;
    answer.error = "has ended";
    return answer;
  }
  return Unreachable(endpoint.pid,
                     "did not wake within " + std::to_string(kSocketMs / 1000) +
                         " s; it may hang, or take its signals with sigwait() or signalfd()");
}

}  // namespace

int WakeUpSignal(const std::string& proc) {
  std::ifstream maps(proc + "/maps");
  int signal = 0;
  for (std::string line; signal == 0 && std::getline(maps, line);) {
    if (line.find(proto::kInjectObject) != std::string::npos) signal = SignalOfMapping(line);
  }
  if (signal == 0) return 0;
  const std::string status = ReadFile(proc + "/status").value_or("");
  return (SignalsOf(status, "SigCgt") & BitOf(signal)) != 0 ? signal : 0;
}

std::vector<Endpoint> FindDormant() {
  std::vector<Endpoint> found;
  for (const std::string& name : ListFolder("/proc")) {
    Endpoint endpoint;
    const auto number = std::from_chars(name.data(), name.data() + name.size(), endpoint.pid);
    struct stat info;
    if (number.ec != std::errc() || number.ptr != name.data() + name.size()) continue;
    const std::string proc = "/proc/" + name;
    if (stat(proc.c_str(), &info) != 0 || (geteuid() != 0 && info.st_uid != geteuid())) continue;
    endpoint.uid = info.st_uid;
    endpoint.wake_up_signal = WakeUpSignal(proc);
    if (endpoint.wake_up_signal == 0) continue;
    endpoint.own_pid = OwnNumberOf(endpoint.pid);
    found.push_back(endpoint);
  }
  return found;
}

Answer AskDormant(const Endpoint& endpoint, const std::string& verb, int timeout_ms) {
  const std::string proc = "/proc/" + std::to_string(endpoint.pid);
  if (IsStopped(endpoint.pid)) {
    return Unreachable(
        endpoint.pid,
        "did not answer, because it is stopped; continue it (kill -CONT) and try again");
  }
  if (verb == proto::kVerbStart || verb == proto::kVerbToggle)
    return Wake(endpoint, proc, verb, timeout_ms);
  if (verb == proto::kVerbStop) {
    return Refused(endpoint, proc, "no capture is running; start one with `gpuprof ctl start`");
  }
  if (verb.starts_with(proto::kVerbSnapshot)) {
    return Refused(endpoint, proc,
                   "nothing was recorded yet; start a capture with `gpuprof ctl start`");
  }
  Answer answer;
  answer.kind = Answer::Kind::kOk;
  answer.peer = endpoint.pid;
  Describe(proc, endpoint, &answer);
  return answer;
}

}  // namespace gpuprof::launcher
