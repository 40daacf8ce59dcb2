// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A timer whose function runs on threads that libc makes: libc waits for its signal, blocked on its
// own helper thread, and that thread allocates.

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int g_ticks;

static void Tick(union sigval value) {
  (void)value;
  free(malloc(1000));
  ++g_ticks;
}

int main(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = Tick};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  const struct itimerspec often = {{0, 2000000}, {0, 2000000}};
  if (timer_settime(timer, 0, &often, NULL) != 0) return 2;
  for (int i = 0; i < 2000 && g_ticks < 200; ++i) usleep(10000);
  printf("%s\n", g_ticks >= 200 ? "ticks" : "silence");
  return 0;
}
