// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes behind a block. Built with AddressSanitizer, which must still see it with us in the
// process.

#include <stdlib.h>

int main(int argc, char** argv) {
  (void)argv;
  volatile char* block = malloc(28);
  block[28 + argc - 1] = 1;
  free((void*)block);
  return 0;
}
