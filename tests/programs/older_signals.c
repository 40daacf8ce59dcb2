// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The older ways to set what SIGUSR1 does, and what each of them leaves behind: whether read() goes
// on, what the next one returns, what sigaction() answers, whether a sleep is whole. Prints it.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

sighandler_t bsd_signal(int number, sighandler_t handler);
int __sigaction(int number, const struct sigaction* action, struct sigaction* old);

static volatile sig_atomic_t g_runs;
static int g_ran[2];  // a byte for each run of the handler

static void Count(int number) {
  ++g_runs;
  if (write(g_ran[1], "r", 1) != 1) _exit(3);
}

static const char* Name(sighandler_t handler) {
  return handler == SIG_DFL    ? "default"
         : handler == SIG_IGN  ? "ignored"
         : handler == SIG_ERR  ? "error"
         : handler == SIG_HOLD ? "held"
         : handler == Count    ? "mine"
                               : "a stranger's";
}

static void Query(const char* after) {
  struct sigaction now;
  sigset_t mask;
  sigaction(SIGUSR1, NULL, &now);
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("%s: %s, flags %x, masks itself %d, blocked %d\n", after, Name(now.sa_handler),
         (unsigned)now.sa_flags & (SA_RESTART | SA_SIGINFO | SA_NODEFER | (unsigned)SA_RESETHAND),
         sigismember(&now.sa_mask, SIGUSR1), sigismember(&mask, SIGUSR1));
  fflush(stdout);
}

// Sends the signal to a read() that blocks; once the handler has run, or could have, a byte.
static void Read(const char* after, int handled) {
  int ends[2];
  char c;
  if (pipe(ends) != 0) return;
  const pid_t child = fork();
  if (child == 0) {
    AwaitSleepOfProcess(getppid());
    kill(getppid(), SIGUSR1);
    if (handled && read(g_ran[0], &c, 1) != 1) _exit(5);
    if (!handled) usleep(50000);
    _exit(write(ends[1], "x", 1) == 1 ? 0 : 6);
  }
  errno = 0;
  const int result = (int)read(ends[0], &c, 1);
  printf("%s: read %d, %s, runs %d\n", after, result, strerror(errno), (int)g_runs);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
  close(ends[0]);
  close(ends[1]);
  Query(after);
}

static void Sleep(const char* after) {
  struct timespec time = {0, 300000000};
  const pid_t child = fork();
  if (child == 0) {
    AwaitSleepOfProcess(getppid());
    _exit(kill(getppid(), SIGUSR1));
  }
  errno = 0;
  const int result = nanosleep(&time, NULL);
  printf("%s: nanosleep %d, %s\n", after, result, strerror(errno));
  waitpid(child, NULL, 0);
}

int main(void) {
  if (pipe(g_ran) != 0) return 2;
  printf("signal: %s\n", Name(signal(SIGUSR1, Count)));
  Read("signal", 1);
  printf("siginterrupt: %d\n", siginterrupt(SIGUSR1, 1));
  Read("siginterrupt 1", 1);
  printf("signal: %s\n", Name(signal(SIGUSR1, Count)));
  Read("signal after siginterrupt 1", 1);
  printf("bsd_signal: %s, ssignal: %s\n", Name(bsd_signal(SIGUSR1, Count)),
         Name(ssignal(SIGUSR1, Count)));
  Query("ssignal after siginterrupt 1");
  printf("siginterrupt: %d\n", siginterrupt(SIGUSR1, 0));
  Read("siginterrupt 0", 1);
  printf("sysv_signal: %s\n", Name(sysv_signal(SIGUSR1, Count)));
  Read("sysv_signal", 1);

  printf("sigset: %s\n", Name(sigset(SIGUSR1, Count)));
  Read("sigset", 1);
  printf("sigset hold: %s\n", Name(sigset(SIGUSR1, SIG_HOLD)));
  Query("sigset hold");
  printf("sigset hold: %s\n", Name(sigset(SIGUSR1, SIG_HOLD)));
  printf("sigset: %s\n", Name(sigset(SIGUSR1, Count)));
  Query("sigset after hold");
  printf("sighold: %d\n", sighold(SIGUSR1));
  Query("sighold");
  printf("sigrelse: %d\n", sigrelse(SIGUSR1));
  Query("sigrelse");

  printf("sigignore: %d\n", sigignore(SIGUSR1));
  Read("sigignore", 0);
  Sleep("sigignore");
  printf("sigset: %s\n", Name(sigset(SIGUSR1, Count)));
  Read("sigset after sigignore", 1);
  printf("signal: %s\n", Name(signal(SIGUSR1, SIG_IGN)));
  Sleep("ignored by signal");

  struct sigaction action = {0}, old = {0};
  action.sa_handler = SIG_IGN;
  action.sa_flags = SA_SIGINFO;
  printf("sigaction: %d\n", sigaction(SIGUSR1, &action, NULL));
  Query("ignored with information");
  raise(SIGUSR1);
  action.sa_handler = Count;
  action.sa_flags = SA_RESTART;
  printf("__sigaction: %d, %s\n", __sigaction(SIGUSR1, &action, &old), Name(old.sa_handler));
  Read("__sigaction", 1);

  sighandler_t (*const setters[])(int, sighandler_t) = {signal, sysv_signal, sigset};
  for (int i = 0; i < 3; ++i) {
    errno = 0;
    const sighandler_t result = setters[i](SIGUSR1, SIG_ERR);
    printf("SIG_ERR: %s, %s\n", Name(result), strerror(errno));
    Query("SIG_ERR");
  }
  return 0;
}
