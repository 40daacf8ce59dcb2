// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that wait for each other in other ways than for plain locks, until the process is killed:
// circles join: main holds a mutex and joins a thread that wants it; joins: two threads join each
// other; timed: each of two threads holds the mutex that the other wants, but for some time only.

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static pthread_mutex_t g_mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t g_both;
static pthread_t g_threads[2];
static volatile int g_tid[2], g_main_tid;
static volatile int g_count = 2;  // of the threads beside main

// Kills the process once all others wait.

static void* Killer(void* unused) {
  while (g_main_tid == 0) usleep(1000);
  AwaitSleepOf(&g_main_tid);
  for (int i = 0; i < g_count; ++i) AwaitSleepOf(&g_tid[i]);
  usleep(100000);
  kill(getpid(), SIGKILL);
  return unused;
}

static void* WantsFirst(void* unused) {
  g_tid[0] = (int)syscall(SYS_gettid);
  pthread_mutex_lock(&g_mutex[0]);
  return unused;
}

static void* JoinsOther(void* number) {
  g_tid[(size_t)number] = (int)syscall(SYS_gettid);
  pthread_barrier_wait(&g_both);
  pthread_join(g_threads[1 - (size_t)number], NULL);
  return NULL;
}

static void* WantsOtherForAWhile(void* number) {
  const size_t mine = (size_t)number;
  g_tid[mine] = (int)syscall(SYS_gettid);
  pthread_mutex_lock(&g_mutex[mine]);
  pthread_barrier_wait(&g_both);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1000;
  pthread_mutex_timedlock(&g_mutex[1 - mine], &until);
  return NULL;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "join";
  AwaitRecorder();
  pthread_t killer;
  pthread_create(&killer, NULL, Killer, NULL);
  if (strcmp(how, "join") == 0) {
    pthread_mutex_lock(&g_mutex[0]);
    pthread_create(&g_threads[0], NULL, WantsFirst, NULL);
    AwaitSleepOf(&g_tid[0]);
    g_count = 1;
    g_main_tid = getpid();
    pthread_join(g_threads[0], NULL);
  }
  pthread_barrier_init(&g_both, NULL, 3);
  for (size_t i = 0; i < 2; ++i) {
    pthread_create(&g_threads[i], NULL,
                   strcmp(how, "joins") == 0 ? JoinsOther : WantsOtherForAWhile, (void*)i);
  }
  pthread_barrier_wait(&g_both);
  g_main_tid = getpid();
  for (;;) pause();
}
