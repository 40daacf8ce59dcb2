// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Steps as ranges of NVTX, as standard input says, a command a line:
//
//   run N         N steps, "step 1", "step 2", ...
//   slow FACTOR   a step that takes so many times the longest step so far
//   fork N        a child that makes N steps
//   end STATUS    exits
//   signal N      dies of the signal
//
// After each command it prints the number of the last step.

#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t longest = 0;
static int number = 0;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void step(int64_t least) {
  char name[32];
  snprintf(name, sizeof name, "step %d", ++number);
  const int64_t begin = now();
  nvtxRangePushA(name);
  while (now() - begin < least) {
    free(malloc(1000));
    const struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
  }
  nvtxRangePop();
  const int64_t took = now() - begin;
  if (took > longest) longest = took;
}

int main(void) {
  char command[16];
  long value;
  while (scanf("%15s %ld", command, &value) == 2) {
    if (strcmp(command, "run") == 0) {
      for (long i = 0; i < value; ++i) step(5000000);
    } else if (strcmp(command, "slow") == 0) {
      step(longest * value);
    } else if (strcmp(command, "fork") == 0) {
      const pid_t child = fork();
      if (child == 0) {
        for (long i = 0; i < value; ++i) step(5000000);
        _exit(0);
      }
      waitpid(child, NULL, 0);
    } else if (strcmp(command, "signal") == 0) {
      raise((int)value);
    } else {
      exit((int)value);
    }
    printf("%d\n", number);
    fflush(stdout);
  }
  return 0;
}
