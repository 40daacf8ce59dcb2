// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program that blocks its signals and takes them when it chooses: while SIGTERM (deadly) and
// SIGUSR2 (with a handler that must not run) are pending, it allocates at many places of its code
// for the first time. At the end both are still pending.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile int g_runs;

static void Handle(int number) { g_runs = g_runs + number; }

#define PLACE(n)                                                \
  __attribute__((noinline)) static void Place##n(void** slot) { \
    *slot = malloc(73001);                                      \
    __asm__ volatile("" ::"r"(slot) : "memory");                \
    free(*slot);                                                \
  }
#define PLACES(n)                                                                                  \
  PLACE(n##0) PLACE(n##1) PLACE(n##2) PLACE(n##3) PLACE(n##4) static void Places##n(void** slot) { \
    Place##n##0(slot), Place##n##1(slot), Place##n##2(slot);                                       \
    Place##n##3(slot), Place##n##4(slot);                                                          \
  }
PLACES(1)
PLACES(2)
PLACES(3)
PLACES(4)

int main(void) {
  sigset_t blocked, pending;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGUSR2);
  signal(SIGUSR2, Handle);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  void* slot = NULL;
  // The recorder is at work by now.
  for (int i = 0; i < 100; ++i) {
    free(malloc(73002));
    usleep(1000);
  }
  kill(getpid(), SIGTERM);
  kill(getpid(), SIGUSR2);
  Places1(&slot);
  Places2(&slot);
  Places3(&slot);
  Places4(&slot);
  sigpending(&pending);
  const struct timespec now = {0, 0};
  printf("pending %d %d, runs %d\n", sigismember(&pending, SIGTERM), sigismember(&pending, SIGUSR2),
         g_runs);
  const int first = sigtimedwait(&blocked, NULL, &now);
  const int second = sigtimedwait(&blocked, NULL, &now);
  printf("taken %d and %d\n", first, second);
  return 0;
}
