// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/record/job_control.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/control/control_client.h"

namespace gpuprof::launcher {
namespace {

// A signal for a process group reaches its members one after the other.
constexpr long kSettleNs = 10'000'000;
constexpr long kPollNs = 20'000'000;

std::atomic<pid_t> g_helper{0};

void Sleep(long ns) {
  const timespec time = {0, ns};
  nanosleep(&time, nullptr);
}

// Continues the launcher as soon as the command goes on or has ended. Holds no descriptor: a reader
// of the launcher's output must not wait for the helper.
[[noreturn]] void WatchCommand(pid_t command, pid_t launcher) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "gpuprof-stopped");
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 0u, ~0u, 0u) != 0)
#endif
    for (int fd = 0; fd < 1024; ++fd) close(fd);
  while (getppid() == launcher && IsStopped(command)) Sleep(kPollNs);
  if (getppid() == launcher) kill(launcher, SIGCONT);
  _exit(0);
}

}  // namespace

void StopWithCommand(pid_t command, int signal) {
  Sleep(kSettleNs);
  if (!IsStopped(command)) return;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t launcher = getpid();
  const pid_t helper = fork();
  if (helper == 0) WatchCommand(command, launcher);
  g_helper.store(helper, std::memory_order_relaxed);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  // SIGTSTP may be ignored or blocked here, or have no effect. SIGSTOP always stops.
  struct sigaction action;
  const bool is_default = sigaction(signal, nullptr, &action) == 0 &&
                          action.sa_handler == SIG_DFL && sigismember(&before, signal) == 0;
  kill(launcher, is_default ? signal : SIGSTOP);
  // Continued here. The command too: it got the signal itself, or the launcher's handler passed the
  // signal on. It may have stopped again since.
  if (helper <= 0) return;
  kill(helper, SIGKILL);
  while (waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {}
}

bool IsStopHelper(pid_t pid) {
  const pid_t helper = g_helper.load(std::memory_order_relaxed);
  return helper > 0 && pid == helper;
}

}  // namespace gpuprof::launcher
