// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A timer's handler maps and unmaps a page while the program is in munmap: until that has happened
// 60 times.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { kTimes = 60, kBytes = 1 << 20, kPage = 4096 };

static volatile sig_atomic_t g_is_inside, g_inside;

static void* Map(size_t bytes) {
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void Handle(int number) {
  const int saved = errno;
  munmap(Map(kPage), kPage);
  if (g_is_inside) g_inside = g_inside + 1;
  errno = saved;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (g_inside < kTimes) {
    char* block = Map(kBytes);
    for (int at = 0; at < kBytes; at += kPage) block[at] = 1;
    g_is_inside = 1;
    munmap(block, kBytes);
    g_is_inside = 0;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  Map(3 * kPage);
  printf("interrupted\n");
  return 0;
}
