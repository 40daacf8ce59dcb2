// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The wall clock is set back by an hour and then forward by two while the program runs: what
// everybody in this process sees who asks libc for the time. (The machine's own clock stays.)

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long g_step;

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += g_step;
  return result;
}

static void Work(size_t size) {
  for (int i = 0; i < 200; ++i) {
    free(malloc(size));
    usleep(500);
  }
}

int main(void) {
  struct timespec times[3];
  Work(71001);
  clock_gettime(CLOCK_REALTIME, &times[0]);
  g_step = -3600;
  Work(71002);
  clock_gettime(CLOCK_REALTIME, &times[1]);
  g_step = 7200;
  Work(71003);
  clock_gettime(CLOCK_REALTIME, &times[2]);
  printf("%d %d\n", times[1].tv_sec<times[0].tv_sec, times[2].tv_sec> times[0].tv_sec + 7000);
  return 0;
}
