// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Asks for what nobody has, and then for what there is: "small": a thousand times 1 PiB and 16
// bytes; "half" and "most": half of all addresses and the most that may be asked for, then 200
// times 4 MiB, which stay. Prints the bytes that it got.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* volatile g_block;
static volatile size_t g_pebi = (size_t)1 << 50;
static volatile size_t g_half = ((size_t)1 << 63) + 4096;
static volatile size_t g_most = PTRDIFF_MAX;

static size_t Get(size_t bytes) {
  g_block = malloc(bytes);
  return g_block != NULL ? bytes : 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "small";
  size_t got = 0;
  if (strcmp(what, "small") == 0) {
    for (int i = 0; i < 1000; ++i) {
      got += Get(g_pebi);
      got += Get(16);
    }
  } else {
    for (int i = 0; i < 3; ++i) got += Get(strcmp(what, "half") == 0 ? g_half : g_most);
    for (int i = 0; i < 200; ++i) got += Get(4 << 20);
  }
  printf("%zu\n", got);
  return 0;
}
