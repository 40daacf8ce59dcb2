// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Catches abort() with a handler that jumps out of it, and goes on: an abort is not always the end.

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf g_back;
static void Jump(int number) { siglongjmp(g_back, number); }

int main(void) {
  signal(SIGABRT, Jump);
  for (int i = 0; i < 3; ++i) {
    if (sigsetjmp(g_back, 1) == 0) abort();
    free(malloc(23456));
    printf("still here\n");
  }
  return 9;
}
