// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Forks many children one after the other: fork_storm COUNT exit|return|alloc|exec. Each child ends
// with status 17; the parent says how many did.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int count = atoi(argv[1]);
  const char* what = argv[2];
  int good = 0;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child < 0) return 3;
    if (child == 0) {
      if (strcmp(what, "return") == 0) return 17;
      if (strcmp(what, "exec") == 0) execl("/bin/sh", "sh", "-c", "exit 17", (char*)NULL);
      if (strcmp(what, "alloc") == 0) {
        for (int k = 0; k < 100; ++k) free(malloc(45678));
        exit(17);
      }
      _exit(17);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return 4;
    good += WIFEXITED(status) && WEXITSTATUS(status) == 17;
  }
  free(malloc(56789));
  printf("%d children ended as they should\n", good);
  return good == count ? 0 : 1;
}
