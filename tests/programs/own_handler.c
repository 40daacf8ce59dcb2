// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program with its own SIGUSR1 handling: own_handler
// sigaction|siginfo|signal|reset|ignore|default|nodefer. Says "ready", then waits for newlines on
// stdin; at each prints what its handler saw. At the end prints what the queries tell it.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t g_runs, g_info_ok, g_nested;
static volatile sig_atomic_t g_depth;

static void Plain(int number) {
  errno = 77;  // NOLINT(bugprone-signal-handler): thread-local, and restored is what is tested
  if (++g_depth > 1) g_nested = 1;
  g_runs += number == SIGUSR1;
  --g_depth;
}
static void WithInfo(int number, siginfo_t* info, void* context) {
  g_runs += number == SIGUSR1;
  g_info_ok = info != NULL && context != NULL && info->si_signo == SIGUSR1 && info->si_pid != 0;
}

static void Query(void) {
  struct sigaction now;
  memset(&now, 0x5a, sizeof(now));
  const int result = sigaction(SIGUSR1, NULL, &now);
  const int flags = now.sa_flags & (SA_RESTART | SA_SIGINFO | SA_NODEFER | (int)SA_RESETHAND);
  printf("query %d: %s, flags %x, masks SIGUSR2: %d\n", result,
         now.sa_handler == SIG_DFL                                 ? "default"
         : now.sa_handler == SIG_IGN                               ? "ignored"
         : now.sa_handler == Plain || now.sa_sigaction == WithInfo ? "mine"
                                                                   : "a stranger's",
         (unsigned)flags, now.sa_handler == SIG_DFL ? 0 : sigismember(&now.sa_mask, SIGUSR2));
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "sigaction";
  struct sigaction action = {0}, old;
  action.sa_handler = Plain;
  sigaddset(&action.sa_mask, SIGUSR2);
  Query();
  if (strcmp(how, "signal") == 0) {
    printf("signal: %d\n", signal(SIGUSR1, Plain) == SIG_DFL);
  } else if (strcmp(how, "ignore") == 0) {
    printf("signal: %d\n", signal(SIGUSR1, SIG_IGN) == SIG_DFL);
  } else if (strcmp(how, "default") != 0) {
    if (strcmp(how, "siginfo") == 0)
      action.sa_flags = SA_SIGINFO | SA_RESTART, action.sa_sigaction = WithInfo;
    if (strcmp(how, "reset") == 0) action.sa_flags = (int)SA_RESETHAND;
    if (strcmp(how, "nodefer") == 0) action.sa_flags = SA_NODEFER;
    printf("sigaction: %d\n", sigaction(SIGUSR1, &action, &old));
    printf("old: %d\n", old.sa_handler == SIG_DFL);
  }
  Query();
  printf("ready\n");
  fflush(stdout);
  for (;;) {
    char c = 0;
    const ssize_t n = read(0, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n != 1) break;
    printf("runs %d, info %d\n", (int)g_runs, (int)g_info_ok);
    fflush(stdout);
  }
  Query();
  return 0;
}
