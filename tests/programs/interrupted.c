// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Blocking calls while SIGUSR1 arrives, with the program's handler and with the flags it chose:
// interrupted restart|plain. With SA_RESTART read() goes on, without it fails with EINTR; nanosleep
// and poll fail either way.

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static volatile int* g_runs;  // of the handler, in memory that the sender sees
static void Count(int number) { *g_runs += number == SIGUSR1; }

// Sends the signal twice and then, for read(), a byte.
static pid_t Sender(int fd) {
  const pid_t child = fork();
  if (child != 0) return child;
  const int runs = *g_runs;
  for (int i = 0; i < 2; ++i) {
    AwaitSleepOfProcess(getppid());
    kill(getppid(), SIGUSR1);
    while (*g_runs <= runs + i) usleep(1000);
  }
  _exit(write(fd, "x", 1) == 1 ? 0 : 1);
}

int main(int argc, char** argv) {
  g_runs = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {0};
  action.sa_handler = Count;
  action.sa_flags = argc > 1 && strcmp(argv[1], "restart") == 0 ? SA_RESTART : 0;
  sigaction(SIGUSR1, &action, NULL);
  for (int round = 0; round < 3; ++round) {
    int ends[2], interrupted = 0;
    char c = 0;
    if (pipe(ends) != 0) return 2;
    const pid_t child = Sender(ends[1]);
    struct timespec long_time = {1000, 0};
    struct pollfd set = {ends[0], POLLIN, 0};
    for (;;) {
      const int result = round == 0   ? (int)read(ends[0], &c, 1)
                         : round == 1 ? poll(&set, 1, 1000000)
                                      : nanosleep(&long_time, &long_time);
      if (result >= 0 || interrupted == 2) break;
      interrupted += errno == EINTR;
      if (round == 2 && interrupted == 2) break;  // the sleep is too long to go on
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    printf("round %d: interrupted %d times, %d runs\n", round, interrupted, *g_runs);
    fflush(stdout);
  }
  return 0;
}
