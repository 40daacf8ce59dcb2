// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Every function of the malloc family, each with sizes that nothing else uses, and what each does
// at its edges: zero, overflow, failure, errno. Prints results for the comparison with the bare
// run; the test compares the trace with the sizes below.

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP(block) __asm__ volatile("" ::"r"(block) : "memory")
static volatile size_t g_huge = SIZE_MAX / 2;

static void Tell(const char* what, const void* block) {
  const int error = errno;
  printf("%s: %s, errno %d\n", what, block != NULL ? "a block" : "null", error);
  errno = 55;
}

int main(void) {
  errno = 55;
  void* block = NULL;
  for (int i = 0; i < 10; ++i) free(malloc(100001));
  for (int i = 0; i < 11; ++i) free(calloc(1, 100002));
  for (int i = 0; i < 12; ++i) free(calloc(100003, 3));
  for (int i = 0; i < 13; ++i) free(realloc(NULL, 100004));
  for (int i = 0; i < 14; ++i) {
    char* grown = malloc(100005);
    grown[0] = 'x';
    grown = realloc(grown, 200006);
    if (grown[0] != 'x') abort();
    grown = realloc(grown, 50007);
    if (grown[0] != 'x') abort();
    free(grown);
  }
  for (int i = 0; i < 15; ++i) {
    block = malloc(100008);
    KEEP(block);
    KEEP(block = realloc(block, 0));  // frees; null from glibc
  }
  for (int i = 0; i < 16; ++i) free(reallocarray(NULL, 100009, 2));
  for (int i = 0; i < 17; ++i) {
    if (posix_memalign(&block, 4096, 100010) != 0 || (uintptr_t)block % 4096 != 0) abort();
    free(block);
  }
  for (int i = 0; i < 18; ++i) free(aligned_alloc(64, 100032));
  for (int i = 0; i < 19; ++i) free(memalign(256, 100012));
  for (int i = 0; i < 20; ++i) free(valloc(100013));
  for (int i = 0; i < 21; ++i) free(pvalloc(100014));
  char text[30001];
  memset(text, 'a', sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  for (int i = 0; i < 22; ++i) free(strdup(text));  // libc's own call of malloc
  for (int i = 0; i < 23; ++i) {
    block = malloc(0);
    KEEP(block);
    free(block);
  }
  free(NULL);
  Tell("nothing yet", NULL);
  Tell("malloc of too much", malloc(g_huge + 5));
  Tell("calloc overflow", calloc(g_huge, 3));
  Tell("reallocarray overflow", reallocarray(NULL, g_huge, 3));
  block = malloc(100015);
  Tell("realloc to too much", realloc(block, g_huge + 7));
  free(block);  // still ours
  Tell("free keeps errno", NULL);
  block = NULL;
  Tell(posix_memalign(&block, 3, 100) == EINVAL ? "posix_memalign says EINVAL" : "wrong", block);
  Tell(posix_memalign(&block, 64, g_huge + 9) == ENOMEM ? "posix_memalign says ENOMEM" : "wrong",
       block);
  Tell("aligned_alloc of too much", aligned_alloc(64, g_huge + 1));
  printf("usable: %d\n", malloc_usable_size(block = malloc(100016)) >= 100016);
  free(block);
  return 0;
}
