// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See child.h. The handler runs in signal context: it reads one word and calls kill().

#include "launcher/record/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "launcher/record/job_control.h"
#include "launcher/record/witness.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

constexpr int kSignals = 65;

// What is passed on when another process sent it to us alone: whatever would end us and leave the
// command to itself, and what tells it something. What is sent to our process group, by the
// terminal or by another process, reaches the command anyway, as it is in our process group; SIGINT
// and SIGQUIT of the terminal are thereby the command's to answer, not ours.
bool IsForwarded(int number) {
  switch (number) {
    case SIGKILL:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGCHLD:
    case SIGURG:
      return false;
    default:
      // Between the last classic signal and the first real-time one lie the C library's own.
      return number <= SIGSYS || (number >= SIGRTMIN && number <= SIGRTMAX);
  }
}

// Those that the kernel sends for what the process itself has just done.
bool IsFault(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
         number == SIGTRAP || number == SIGSYS;
}

bool IsTimer(int number) { return number == SIGALRM || number == SIGVTALRM || number == SIGPROF; }

struct SignalState {
  struct sigaction action[kSignals];
  sigset_t mask;
  int parent_death;  // signal that our parent's death sends us; fork clears it, exec would not have
};

SignalState g_before;
std::atomic<int32_t> g_child{0};
ChildResult g_last;  // what RunChild returns
Witness g_witness;

void Forward(int number, siginfo_t* info, void*) {
  const int saved = errno;
  const bool is_sent = info->si_code <= 0;
  if (!is_sent && IsFault(number)) {
    // Our own fault, which comes again, or is sent again, when this handler has returned.
    sigaction(number, &g_before.action[number], nullptr);
    raise(number);
    return;
  }
  const int32_t child = g_child.load(std::memory_order_relaxed);
  // A timer set before we were started is the command's, but timers do not pass to children. What
  // we sent to ourselves (abort, a write into a closed pipe or beyond a limit) is ours.
  const bool is_for_command =
      is_sent ? info->si_pid != child && info->si_pid != getpid() && !IsStopHelper(info->si_pid)
              : IsTimer(number);
  if (child > 0 && !g_witness.Saw(number) && is_for_command) {
    if (info->si_code == SI_QUEUE) {
      sigqueue(child, number, info->si_value);
    } else {
      kill(child, number);
    }
  }
  errno = saved;
}

// SIGPIPE too: a summary into a closed pipe must not change the status.
void TakeSignals() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &g_before.mask);
  g_before.parent_death = 0;
  prctl(PR_GET_PDEATHSIG, &g_before.parent_death);
  struct sigaction action = {};
  action.sa_sigaction = Forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (int number = 1; number < kSignals; ++number) {
    if (!IsForwarded(number)) continue;
    struct sigaction& before = g_before.action[number];
    struct sigaction now;
    sigaction(number, nullptr, &now);
    if (now.sa_sigaction != Forward) before = now;  // else a second child: the first one's stands
    // Where it was ignored (nohup, a background job of a script) the command ignores it too:
    // nothing to pass on.
    if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
}

void RestoreSignals() {
  for (int number = 1; number < kSignals; ++number) {
    if (IsForwarded(number)) sigaction(number, &g_before.action[number], nullptr);
  }
  sigprocmask(SIG_SETMASK, &g_before.mask, nullptr);
}

struct Pipe {
  int read = -1;
  int write = -1;
};

// In the child, between fork and exec.
[[noreturn]] void Exec(char* const* arguments, char* const* environment, int error_pipe) {
  RestoreSignals();
  if (g_before.parent_death != 0) prctl(PR_SET_PDEATHSIG, g_before.parent_death);
  execvpe(arguments[0], arguments, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_pipe, &error, sizeof error);
  _exit(127);
}

// Reads errno of a failed exec; 0 when the pipe was closed by a successful one.
int ReadExecError(int fd) {
  int error = 0;
  ssize_t got;
  do got = read(fd, &error, sizeof error);
  while (got < 0 && errno == EINTR);
  close(fd);
  return got == static_cast<ssize_t>(sizeof error) ? error : 0;
}

void Wait(ChildResult* result) {
  const auto pid = static_cast<id_t>(result->pid);
  for (;;) {
    siginfo_t info = {};
    while (waitid(P_PID, pid, &info, WEXITED | WSTOPPED | WNOWAIT) < 0 && errno == EINTR) {}
    if (info.si_code != CLD_STOPPED && info.si_code != CLD_TRAPPED) break;
    siginfo_t taken = {};
    waitid(P_PID, pid, &taken, WSTOPPED | WNOHANG);
    if (info.si_code == CLD_STOPPED) StopWithCommand(result->pid, info.si_status);
  }
  // From here on the pid may be another process's: nothing is sent to it any more.
  g_child.store(0, std::memory_order_relaxed);
  g_witness.Stop();
  while (waitpid(result->pid, &result->wait_status, 0) < 0 && errno == EINTR) {}
}

}  // namespace

int ChildResult::ExitStatus() const {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::vector<std::string> ChangedEnvironment(const char* const* environment, Variables changes) {
  std::vector<std::string> entries;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    std::string entry = *environment;
    const auto change = changes.find(entry.substr(0, entry.find('=')));
    if (change != changes.end()) {
      entry = change->first + "=" + change->second;
      changes.erase(change);
    }
    entries.push_back(std::move(entry));
  }
  for (const auto& [name, value] : changes) entries.push_back(name + "=" + value);
  return entries;
}

ChildResult RunChild(const std::vector<std::string>& command, const Variables& changes,
                     const std::function<void(int32_t)>& on_started, ObstacleInbox* inbox) {
  ChildResult& result = g_last;
  result = {};
  std::vector<std::string> entries = ChangedEnvironment(environ, changes);
  std::vector<char*> arguments, variables;
  for (std::string& entry : entries) variables.push_back(entry.data());
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    result.exec_error = errno;
    result.fork_failed = true;
    return result;
  }
  TakeSignals();
  const uint64_t begin = proto::ReadClockNs(CLOCK_MONOTONIC);
  const pid_t child = fork();
  if (child == 0) Exec(arguments.data(), variables.data(), ends[1]);
  result.exec_error = child < 0 ? errno : 0;
  result.fork_failed = child < 0;
  result.pid = child;
  g_child.store(child, std::memory_order_relaxed);
  if (child > 0) g_witness.Start(inbox);
  sigprocmask(SIG_SETMASK, &g_before.mask, nullptr);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return result;
  }
  result.exec_error = ReadExecError(ends[0]);
  if (result.exec_error == 0 && on_started) on_started(child);
  Wait(&result);
  result.wall_ns = proto::ReadClockNs(CLOCK_MONOTONIC) - begin;
  return result;
}

bool WasStarted() { return g_last.pid > 0 && g_last.exec_error == 0; }

void EndLikeStarted() {
  if (g_child.load(std::memory_order_relaxed) > 0) Wait(&g_last);
  EndLike(g_last);
}

void EndLike(const ChildResult& result) {
  if (!WIFSIGNALED(result.wait_status)) std::_Exit(result.ExitStatus());
  const int number = WTERMSIG(result.wait_status);
  // The command has left its core file, if any; ours would overwrite it.
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  kill(getpid(), number);
  std::_Exit(128 + number);  // a signal whose default does not kill
}

}  // namespace gpuprof::launcher
