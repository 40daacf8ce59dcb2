// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Changes its root to DIR half-way through its work, and with it what every path means: allocates
// 1, 2, 3 ... COUNT bytes. Half way it says so and waits for a line on stdin; then it changes.
//   changed_root DIR COUNT

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const size_t count = (size_t)atol(argv[2]);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  for (size_t made = 1; made <= count; ++made) {
    void* volatile block = malloc(made);
    free(block);
    if (made != count / 2) continue;
    puts("half");
    fflush(stdout);
    if (getchar() != '\n') return 1;
    if (chroot(argv[1]) != 0 || chdir("/") != 0) return 1;
  }
  printf("made %zu\n", count);
  return 0;
}
