// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Forks a child that allocates and frees a number of blocks at once, in its first moments.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** words) {
  void* volatile block = malloc(10);
  free(block);
  const pid_t child = fork();
  if (child < 0 || count < 2) return 1;
  if (child == 0) {
    for (int i = 0; i < atoi(words[1]); ++i) {
      block = malloc(100);
      free(block);
    }
    return 0;
  }
  int status = 1;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
