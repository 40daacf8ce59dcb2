// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program that takes SIGUSR1 by sigwait, with the signal blocked in every thread, as servers do:
// sigwaits COUNT. Prints each arrival, and the pending mask at the end.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void* Idle(void* unused) {
  free(malloc(1));
  return unused;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, Idle, NULL);
  pthread_join(thread, NULL);
  printf("ready\n");
  fflush(stdout);
  for (int i = 0; i < count; ++i) {
    int number = 0;
    const int result = sigwait(&set, &number);
    printf("sigwait %d: %d\n", result, number == SIGUSR1);
    fflush(stdout);
  }
  sigpending(&pending);
  printf("pending %d\n", sigismember(&pending, SIGUSR1));
  return 0;
}
