// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program that holds signals back while they are pending, and takes them when it chooses, as
// servers with sigwait or signalfd do. Meanwhile it allocates from ever new places, in two threads.
// A signal let in early would end it.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t g_early;

static void Early(int number) { g_early = number; }

// A chain of functions, each a place of its own for stacks.
#define PLACE(n, next)                                       \
  __attribute__((noinline)) static void Place##n(int size) { \
    void* block = malloc(size + n);                          \
    memset(block, n, size);                                  \
    next;                                                    \
    free(block);                                             \
  }
PLACE(0, (void)0)
PLACE(1, Place0(size + 1))
PLACE(2, Place1(size + 1))
PLACE(3, Place2(size + 1))
PLACE(4, Place3(size + 1))
PLACE(5, Place4(size + 1))
PLACE(6, Place5(size + 1))
PLACE(7, Place6(size + 1))
PLACE(8, Place7(size + 1))
PLACE(9, Place8(size + 1))

static void (*const kPlaces[])(int) = {Place0, Place1, Place2, Place3, Place4,
                                       Place5, Place6, Place7, Place8, Place9};

static int Compare(const void* a, const void* b) {
  kPlaces[rand() % 10](100);
  return *(const int*)a - *(const int*)b;
}

static void* Work(void* unused) {
  int numbers[200];
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 10; ++i) kPlaces[i](1000 * round + 1);
    for (int i = 0; i < 200; ++i) numbers[i] = i * 7919 % 211;
    qsort(numbers, 200, sizeof(int), Compare);
    usleep(10000);
  }
  return unused;
}

int main(void) {
  sigset_t held, pending;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  sigaddset(&held, SIGUSR2);
  sigaddset(&held, SIGINT);
  signal(SIGINT, Early);
  pthread_sigmask(SIG_BLOCK, &held, NULL);
  for (int i = 1; i < 65; ++i) {
    if (sigismember(&held, i) == 1) kill(getpid(), i);
  }
  pthread_t thread;
  pthread_create(&thread, NULL, Work, NULL);
  Work(NULL);
  pthread_join(thread, NULL);
  sigpending(&pending);
  printf("pending %d %d %d, early %d\n", sigismember(&pending, SIGTERM),
         sigismember(&pending, SIGUSR2), sigismember(&pending, SIGINT), (int)g_early);
  const struct timespec at_once = {0, 0};
  for (int i = 0; i < 3; ++i) printf("taken %d\n", sigtimedwait(&held, NULL, &at_once));
  return 0;
}
