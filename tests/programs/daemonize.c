// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Becomes a daemon and goes on allocating: daemonize FILE. The original process ends at once with
// 0; the daemon writes "done" into FILE when it is about to end.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  free(malloc(11000));
  if (daemon(1, 0) != 0) return 3;
  for (int i = 0; i < 500; ++i) {
    free(malloc(12000));
    usleep(500);
  }
  FILE* file = fopen(argv[1], "w");
  if (file == NULL) return 4;
  fputs("done", file);
  return fclose(file) == 0 ? 0 : 5;
}
