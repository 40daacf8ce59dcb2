// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tries to become argv[1], which may be executed but is no program, 20 times; a block of 70000 + i
// bytes before each.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  for (int i = 0; i < 20; ++i) {
    free(malloc(70000 + (size_t)i));
    char* words[] = {argv[1], NULL};
    if (execv(argv[1], words) != -1 || errno != ENOEXEC) return 90;
  }
  puts("here still");
  return argc == 2 ? 0 : 91;
}
