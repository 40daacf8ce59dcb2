// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Runs itself many times, 24 at a time: each allocates without a pause and ends after 0 to 6 ms,
// while whoever records it is at work or has just begun. exits_at_work COUNT; prints how many ended
// otherwise than they should.

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static long Microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int Work(long microseconds) {
  const long until = Microseconds() + microseconds;
  do {
    for (int i = 0; i < 50; ++i) free(malloc(100));
  } while (Microseconds() < until);
  return 7;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc > 2) return Work(atol(argv[2]));
  const int count = atoi(argv[1]);
  int running = 0, wrong = 0;
  for (int i = 0; i < count || running > 0;) {
    if (i < count && running < 24) {
      char time[20];
      snprintf(time, sizeof time, "%d", i * 37 % 6000);
      char* const child[] = {argv[0], argv[1], time, NULL};
      pid_t pid;
      if (posix_spawn(&pid, argv[0], NULL, NULL, child, environ) != 0) return 1;
      ++running;
      ++i;
      continue;
    }
    int status = 0;
    if (wait(&status) < 0) return 1;
    --running;
    wrong += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
  }
  printf("%d ended wrongly\n", wrong);
  return 0;
}
