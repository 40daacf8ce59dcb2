// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Closes every descriptor it did not open and fills the numbers with its own pipes, again and
// again, as daemons do. Reads back what it wrote: nobody else may have used a number. With "hold"
// as argument it then waits for end of file on stdin.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  (void)argv;
  char text[32];
  int wrong = 0;
  for (int round = 0; round < 20; ++round) {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    int ends[200][2];
    int made = 0;
    while (made < 200 && pipe(ends[made]) == 0) ++made;
    for (int i = 0; i < 1200; ++i) dup2(ends[0][0], 500 + i % 500);
    for (int i = 0; i < made; ++i) {
      const int n = snprintf(text, sizeof(text), "%d", i);
      if (write(ends[i][1], text, (size_t)n) != n) ++wrong;
    }
    usleep(5000);
    free(malloc(26026));
    for (int i = 0; i < made; ++i) {
      char back[32] = {0}, want[32];
      snprintf(want, sizeof(want), "%d", i);
      if (read(ends[i][0], back, sizeof(back) - 1) <= 0 || strcmp(back, want) != 0) ++wrong;
    }
    if (made != 200) ++wrong;
  }
  printf("%d wrong\n", wrong);
  fflush(stdout);
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  if (argc > 1) {
    printf("ready\n");
    fflush(stdout);
    while (read(0, text, 1) == 1) free(malloc(26026));
  }
  return 0;
}
