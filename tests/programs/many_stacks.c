// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Allocates from 2^argv[1] different call stacks of about 40 frames. At each level, a bit of a
// number chooses one of two functions.

#include <stdio.h>
#include <stdlib.h>

enum { kLevels = 16 };

static void* volatile g_block;

static __attribute__((noinline)) long Descend(int level, unsigned long path);

#define WAY(name, value)                                                                \
  static __attribute__((noinline)) long name(int level, unsigned long path) {           \
    const long below = Descend(level - 1, path >> 1);                                   \
    __asm__ volatile(""); /* the call is no jump, so that this frame is on the stack */ \
    return below + value;                                                               \
  }

WAY(Zero, 0)
WAY(One, 1)

static long Descend(int level, unsigned long path) {
  if (level == 0) {
    g_block = malloc(40);
    return 0;
  }
  const long found = (path & 1) != 0 ? One(level, path) : Zero(level, path);
  __asm__ volatile("");
  return found;
}

int main(int argc, char** argv) {
  const unsigned long stacks = 1ul << (argc > 1 ? atoi(argv[1]) : 4);
  long ones = 0;
  for (unsigned long i = 0; i < stacks; ++i) ones += Descend(kLevels, i);
  printf("%lu stacks, %ld\n", stacks, ones);
  return 0;
}
