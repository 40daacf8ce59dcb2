// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A signal handler that forks, at any moment of a loop over malloc and free and of the program's
// end; the child returns from it and goes on where its parent was interrupted: forking_handler
// CHILDREN. Small blocks of one size, which the allocator has at hand without a lock: in a program
// with threads fork() would wait for that.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kAtEnd = 30 };

static volatile sig_atomic_t g_forked, g_wrong, g_is_child, g_is_end;
static int g_children;

// Another moment each time.
static void SetTimer(void) {
  const struct itimerval once = {{0, 0}, {0, 100 + g_forked * 7 % 400}};
  if (g_forked < g_children + kAtEnd) setitimer(ITIMER_REAL, &once, NULL);
}

static void Fork(int number) {
  (void)number;
  const int expected = g_is_end ? 0 : 7;
  const pid_t child = fork();
  if (child == 0) {
    g_is_child = 1;
    return;
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
      WEXITSTATUS(status) != expected) {
    ++g_wrong;
    write(1, "wrong\n", 6);
  }
  ++g_forked;
  SetTimer();
}

static __attribute__((noinline)) void Work(int depth) {
  if (depth > 0) {
    Work(depth - 1);
  } else {
    for (int i = 0; i < 100; ++i) {
      void* volatile block = malloc(24);
      free(block);
    }
  }
  __asm__ volatile("");  // not a tail call
}

int main(int argc, char** argv) {
  g_children = argc > 1 ? atoi(argv[1]) : 100;
  struct sigaction action = {0};
  action.sa_handler = Fork;
  sigaction(SIGALRM, &action, NULL);
  SetTimer();
  while (g_forked < g_children && !g_is_child) Work(12);
  if (g_is_child) {
    for (int i = 0; i < 10; ++i) Work(12);
    _exit(7);
  }
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarms, NULL);
  printf("%d wrong\n", (int)g_wrong);
  fflush(stdout);
  g_is_end = 1;
  sigprocmask(SIG_UNBLOCK, &alarms, NULL);
  exit(0);
}
