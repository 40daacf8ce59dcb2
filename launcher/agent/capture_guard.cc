// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See capture_guard.h.

#include "launcher/agent/capture_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <string>

#include "launcher/base/read_file.h"
#include "launcher/control/control_client.h"
#include "proto/control.h"

namespace gpuprof::launcher {
namespace {

// What travels through the pipe, in one write.
struct Note {
  int32_t pid;
  int32_t is_start;
};

// Returns what tells a process from a later one with its number: when it began.
std::string LifeOf(int32_t pid) {
  constexpr int kStartTime = 20;  // behind the name
  const std::string stat = ReadFile("/proc/" + std::to_string(pid) + "/stat").value_or("");
  size_t at = stat.rfind(')');
  for (int field = 0; field < kStartTime && at != std::string::npos; ++field)
    at = stat.find(' ', at + 1);
  return at == std::string::npos ? "" : stat.substr(at, stat.find(' ', at + 1) - at);
}

void StopAll(const std::map<int32_t, std::string>& started) {
  const std::vector<Endpoint> endpoints = FindEndpoints();
  std::vector<std::vector<Endpoint>> asked;
  for (const auto& [pid, life] : started) {
    if (!life.empty() && LifeOf(pid) == life) asked.push_back(NamesOf(endpoints, pid));
  }
  AskTogether(asked, proto::kVerbStop, kChangeTimeoutMs);
}

[[noreturn]] void Guard(int pipe) {
  // Ctrl-C is for the agent, and its end is told by the pipe.
  setsid();
  prctl(PR_SET_NAME, "gpuprof-guard");
  std::map<int32_t, std::string> started;
  Note note;
  for (;;) {
    const ssize_t got = read(pipe, &note, sizeof note);
    if (got < 0 && errno == EINTR) continue;
    if (got != ssize_t{sizeof note}) break;
    if (note.is_start != 0) {
      started[note.pid] = LifeOf(note.pid);
    } else {
      started.erase(note.pid);
    }
  }
  if (!started.empty()) StopAll(started);
  _exit(0);
}

}  // namespace

CaptureGuard::CaptureGuard() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  codec::OwnedFile reading(ends[0]);
  pipe_ = codec::OwnedFile(ends[1]);
  process_ = fork();
  if (process_ != 0) return;
  pipe_.Close();
  Guard(reading.fd());
}

CaptureGuard::~CaptureGuard() {
  pipe_.Close();
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

void CaptureGuard::Tell(const std::vector<int32_t>& pids, bool is_start) {
  for (const int32_t pid : pids) {
    const Note note = {pid, is_start ? 1 : 0};
    if (process_ > 0 && write(pipe_.fd(), &note, sizeof note) != ssize_t{sizeof note}) return;
  }
}

void CaptureGuard::Started(const std::vector<int32_t>& pids) { Tell(pids, true); }
void CaptureGuard::Stopped(const std::vector<int32_t>& pids) { Tell(pids, false); }

}  // namespace gpuprof::launcher
