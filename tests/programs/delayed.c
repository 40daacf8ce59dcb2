// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Parent and forked child allocate once each tenth of a second, for three seconds.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile g_block;

int main(void) {
  const pid_t child = fork();
  for (int i = 0; i < 30; ++i) {
    g_block = malloc(child == 0 ? 10000 + i : 20000 + i);
    usleep(100000);
  }
  if (child != 0) wait(NULL);
  return 0;
}
