// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// C11's threads: a mutex that another thread holds for 50 ms, a condition that another signals, a
// join of a thread that lives, timeouts, and what they return. Prints the results, and on a second
// line, to stderr where no test compares them, the addresses of mutex and condition, the thread
// joined and the numbers of main and of the thread that waited.

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static mtx_t g_mutex, g_recursive;
static cnd_t g_condition;
static int g_turn;
static volatile int g_tid, g_main_tid, g_ended_tid, g_is_contending, g_is_joining;

static void Tell(const char* what, int result) {
  printf("%s: %s, errno %d\n", what,
         result == thrd_success    ? "success"
         : result == thrd_busy     ? "busy"
         : result == thrd_timedout ? "timed out"
         : result == thrd_error    ? "error"
                                   : "else",
         errno);
}
static struct timespec In(long ms) {
  struct timespec until;
  timespec_get(&until, TIME_UTC);
  until.tv_nsec += ms * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return until;
}

static int Waiter(void* unused) {
  g_tid = (int)syscall(SYS_gettid);
  struct timespec until = In(10);
  Tell("timed", mtx_timedlock(&g_recursive, &until));
  g_is_contending = 1;
  Tell("contended", mtx_lock(&g_mutex));
  g_turn = 1;
  cnd_signal(&g_condition);
  Tell("unlock", mtx_unlock(&g_mutex));
  while (!g_is_joining) usleep(1000);
  AwaitSleepOf(&g_main_tid);
  return unused == NULL ? 1234 : 0;
}
static int Leave(void* value) {
  g_ended_tid = (int)syscall(SYS_gettid);
  thrd_exit((int)(size_t)value);
}

int main(int argc, char** argv) {
  thrd_t thread;
  int value = 0;
  g_main_tid = getpid();
  AwaitRecorder();
  errno = 33;  // none of these sets it
  Tell("init", mtx_init(&g_mutex, mtx_plain));
  Tell("init recursive", mtx_init(&g_recursive, mtx_timed | mtx_recursive));
  Tell("init condition", cnd_init(&g_condition));
  for (int i = 0; i < 1000; ++i) {
    if (mtx_lock(&g_recursive) != thrd_success) return 2;
  }
  Tell("again", mtx_lock(&g_recursive));
  Tell("try", mtx_trylock(&g_recursive));
  mtx_lock(&g_mutex);
  Tell("create", thrd_create(&thread, Waiter, NULL));
  while (!g_is_contending) usleep(1000);
  AwaitSleepOf(&g_tid);
  usleep(30000);
  while (g_turn == 0) {
    if (cnd_wait(&g_condition, &g_mutex) != thrd_success) return 3;
  }
  struct timespec until = In(10);
  Tell("condition timed", cnd_timedwait(&g_condition, &g_mutex, &until));
  until.tv_nsec = -1;
  Tell("condition bad time", cnd_timedwait(&g_condition, &g_mutex, &until));
  g_is_joining = 1;
  Tell("join", thrd_join(thread, &value));
  fprintf(stderr, "%zu %zu %zu %d %d\n", (size_t)&g_mutex, (size_t)&g_condition, (size_t)thread,
          getpid(), g_tid);
  printf("value %d\n", value);
  thrd_create(&thread, Leave, (void*)55);
  AwaitEndOf(&g_ended_tid);
  Tell("join ended", thrd_join(thread, &value));
  printf("value %d\n", value);
  return 0;
}
