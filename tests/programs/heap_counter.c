// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Allocates 1, 2, 3 ... bytes, so that each event tells its number and a hole shows. After COUNT
// of them it ends as told:
//   heap_counter COUNT exit|abort|segv|kill|wait|again [stop]
// segv: its own handler runs first and says so; wait: goes on, slowly, until a line comes on stdin;
// again: once a line has come it makes COUNT more, says so, and ends when another comes;
// stop: says so 20,000 before the last one, and goes on once a line comes on stdin.

#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void OnCrash(int number) {
  static const char text[] = "own handler\n";
  (void)!write(1, text, sizeof text - 1);
  signal(number, SIG_DFL);
  raise(number);
}

static void Make(size_t size) {
  void* volatile block = malloc(size);
  free(block);
}

static int IsToldToGoOn(void) {
  char line[8];
  return read(0, line, sizeof line) > 0;
}

// Up to `count`, which are `made` already.
static void MakeUpTo(size_t count, size_t made, int stops) {
  while (made < count) {
    Make(++made);
    if (made % 100000 == 0) usleep(20000);  // not faster than it can be recorded
    if (stops && made + 20000 == count) {
      printf("stopped at %zu\n", made);
      fflush(stdout);
      if (!IsToldToGoOn()) exit(1);
    }
  }
  printf("made %zu\n", made);
  fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const size_t count = (size_t)atol(argv[1]);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  usleep(100000);
  size_t made = count;
  MakeUpTo(count, 0, argc > 3);
  if (strcmp(argv[2], "abort") == 0) abort();
  if (strcmp(argv[2], "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(argv[2], "segv") == 0) {
    signal(SIGSEGV, OnCrash);
    *(volatile int*)8 = 1;
  }
  if (strcmp(argv[2], "wait") == 0) {
    struct pollfd in = {0, POLLIN, 0};
    // A signal ends poll, whatever its handler's flags.
    for (int ready = 0; ready == 0 || (ready < 0 && errno == EINTR); ready = poll(&in, 1, 1)) {
      Make(++made);
    }
    printf("made %zu\n", made);
  }
  if (strcmp(argv[2], "again") == 0) {
    if (!IsToldToGoOn()) return 1;
    MakeUpTo(2 * count, count, 0);
    if (!IsToldToGoOn()) return 1;
  }
  return 0;
}
