// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Two threads that wait for each other, a third that waits for one of them: deadlock
// exit|kill|wait. After a while main leaves by _exit, kills the process, or waits for a line on
// stdin. Prints the addresses of the two mutexes and the threads' numbers.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static pthread_mutex_t g_mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t g_both;
static volatile int g_tid[3], g_has_crossed[2];

static __attribute__((noinline)) void TakeTheOther(size_t mine) {
  pthread_mutex_lock(&g_mutex[1 - mine]);
  __asm__ volatile("");  // not a tail call
}

static void* Crossing(void* number) {
  const size_t mine = (size_t)number;
  g_tid[mine] = (int)syscall(SYS_gettid);
  pthread_mutex_lock(&g_mutex[mine]);
  pthread_barrier_wait(&g_both);
  g_has_crossed[mine] = 1;
  TakeTheOther(mine);
  return NULL;
}

static void* Bystander(void* unused) {
  g_tid[2] = (int)syscall(SYS_gettid);
  TakeTheOther(1);
  return unused;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "exit";
  AwaitRecorder();
  pthread_barrier_init(&g_both, NULL, 2);
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, Crossing, (void*)0);
  pthread_create(&threads[1], NULL, Crossing, (void*)1);
  while (!g_has_crossed[0] || !g_has_crossed[1]) usleep(1000);
  for (int i = 0; i < 2; ++i) AwaitSleepOf(&g_tid[i]);
  pthread_create(&threads[2], NULL, Bystander, NULL);
  AwaitSleepOf(&g_tid[2]);
  usleep(100000);
  printf("%zu %zu %d %d %d\n", (size_t)&g_mutex[0], (size_t)&g_mutex[1], g_tid[0], g_tid[1],
         g_tid[2]);
  fflush(stdout);
  char c;
  if (strcmp(how, "wait") == 0) (void)!read(0, &c, 1);
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  _exit(7);
}
