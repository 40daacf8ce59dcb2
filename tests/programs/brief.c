// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Starts a number of copies of itself that end at once: every second one by exit, the others by
// SIGKILL. Then it waits for a line on its standard input.

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

int main(int count, char** words) {
  if (count > 2) {
    void* block = malloc(100);
    free(block);
    if (atoi(words[2]) % 2 != 0) kill(getpid(), SIGKILL);
    return 0;
  }
  for (int i = 0; i < atoi(words[1]); ++i) {
    char number[16];
    pid_t child = 0;
    snprintf(number, sizeof number, "%d", i);
    char* command[] = {words[0], words[1], number, NULL};
    if (posix_spawn(&child, words[0], NULL, NULL, command, environ) != 0) return 1;
    waitpid(child, NULL, 0);
  }
  puts("done");
  fflush(stdout);
  getchar();
  return 0;
}
