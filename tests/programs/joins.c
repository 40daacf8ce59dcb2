// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that are waited for until they end: joins record|results. With record, a join that lasts
// 100 ms, one of a thread that has ended long before, a timed one that gives up, and one that is
// cancelled while it waits; prints the numbers of the first two threads and of the one that joined
// and was cancelled, and the handles of the first three. With results, every result that joining
// has: the output is the test.

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static pthread_t g_main;
static volatile int g_tid[3], g_main_tid, g_may_end;

static void Tell(const char* what, int result) {
  printf("%s: %s, errno %d\n", what, strerror(result), errno);
}
static struct timespec In(clockid_t clock, long ms) {
  struct timespec until;
  clock_gettime(clock, &until);
  until.tv_nsec += ms * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return until;
}

static void* Sleep(void* number) {
  const size_t which = (size_t)number;
  if (which < 3) g_tid[which] = (int)syscall(SYS_gettid);
  if (which == 0) {
    AwaitSleepOf(&g_main_tid);
    usleep(100000);
  }
  while ((which == 2 || which == 3) && !g_may_end) usleep(1000);
  return number;
}
static void* JoinForEver(void* unused) {
  g_tid[2] = (int)syscall(SYS_gettid);
  pthread_join(g_main, NULL);
  return unused;
}
static int Record(void) {
  pthread_t slow, ended, late, stuck;
  AwaitRecorder();
  pthread_create(&slow, NULL, Sleep, (void*)0);
  pthread_join(slow, NULL);
  pthread_create(&ended, NULL, Sleep, (void*)1);
  AwaitEndOf(&g_tid[1]);
  pthread_join(ended, NULL);
  pthread_create(&late, NULL, Sleep, (void*)2);
  const struct timespec soon = In(CLOCK_REALTIME, 20);
  pthread_timedjoin_np(late, NULL, &soon);
  g_may_end = 1;
  pthread_detach(late);
  g_tid[2] = 0;
  pthread_create(&stuck, NULL, JoinForEver, NULL);
  AwaitSleepOf(&g_tid[2]);
  usleep(100000);
  pthread_cancel(stuck);
  pthread_join(stuck, NULL);
  printf("%d %d %d %zu %zu %zu\n", g_tid[0], g_tid[1], g_tid[2], (size_t)slow, (size_t)ended,
         (size_t)late);
  return 0;
}

static int Results(void) {
  pthread_t thread;
  void* value = NULL;
  errno = 33;  // none of these sets it
  Tell("of itself", pthread_join(pthread_self(), NULL));
  pthread_create(&thread, NULL, Sleep, (void*)17);
  Tell("plain", pthread_join(thread, &value));
  Tell("its value", (int)(size_t)value);
  pthread_create(&thread, NULL, Sleep, (void*)3);
  struct timespec until = In(CLOCK_REALTIME, 20);
  Tell("busy", pthread_tryjoin_np(thread, &value));
  Tell("timed", pthread_timedjoin_np(thread, &value, &until));
  until = In(CLOCK_MONOTONIC, 20);
  Tell("clock", pthread_clockjoin_np(thread, &value, CLOCK_MONOTONIC, &until));
  g_may_end = 1;
  Tell("in the end", pthread_timedjoin_np(thread, &value, NULL));
  pthread_create(&thread, NULL, Sleep, (void*)1);
  AwaitEndOf(&g_tid[1]);
  Tell("ended, time over", pthread_timedjoin_np(thread, &value, &until));
  Tell("its value", (int)(size_t)value);
  g_may_end = 0;
  pthread_create(&thread, NULL, Sleep, (void*)3);
  pthread_detach(thread);
  Tell("detached", pthread_join(thread, NULL));
  pthread_create(&thread, NULL, JoinForEver, NULL);
  AwaitSleepOf(&g_tid[2]);
  pthread_cancel(thread);
  Tell("cancelled", pthread_join(thread, &value));
  Tell("its value", value == PTHREAD_CANCELED);
  return 0;
}

int main(int argc, char** argv) {
  g_main = pthread_self();
  g_main_tid = getpid();
  return argc > 1 && strcmp(argv[1], "results") == 0 ? Results() : Record();
}
