// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Parent and forked child allocate a block of another size every 20 ms, until the end of the input
// and ten times more. The parent prints the child's number, and each prints its last size.

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile g_block;

static int Allocate(int size, int input) {
  struct pollfd set = {input, POLLIN, 0};
  for (int left = 10; left > 0; left -= poll(&set, 1, 20) != 0) {
    g_block = malloc(++size);
    if (left < 10) usleep(20000);
  }
  return size;
}

int main(void) {
  int ends[2];
  if (pipe(ends) != 0) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    printf("%d\n", Allocate(100000, ends[0]));
    return 0;
  }
  printf("%d\n", (int)child);
  const int last = Allocate(200000, 0);
  close(ends[1]);
  wait(NULL);
  printf("%d\n", last);
  return 0;
}
