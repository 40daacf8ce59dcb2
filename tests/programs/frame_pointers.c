// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Compiled with frame pointers, as distributions do: each function of the malloc family and of mmap
// called from one place, with a size of its own.

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PLACE(name, call) \
  static __attribute__((noinline)) void* name(void) { return call; }

static void* g_old;

PLACE(ByMalloc, malloc(200001))
PLACE(ByCalloc, calloc(1, 200002))
PLACE(ByRealloc, realloc(NULL, 200003))
PLACE(ByGrowing, realloc(g_old, 200004))
PLACE(ByReallocarray, reallocarray(NULL, 1, 200005))
PLACE(ByAlignedAlloc, aligned_alloc(64, 200064))
PLACE(ByMemalign, memalign(64, 200007))
PLACE(ByValloc, valloc(200008))
PLACE(ByPvalloc, pvalloc(200009))
PLACE(ByMmap, mmap(NULL, 409600, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))

static __attribute__((noinline)) void* ByPosixMemalign(void) {
  void* block = NULL;
  return posix_memalign(&block, 64, 200010) == 0 ? block : NULL;
}

int main(void) {
  g_old = malloc(1000);
  void* (*const places[])(void) = {ByMalloc,       ByCalloc,       ByRealloc,      ByGrowing,
                                   ByReallocarray, ByAlignedAlloc, ByMemalign,     ByValloc,
                                   ByPvalloc,      ByMmap,         ByPosixMemalign};
  for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
    if (places[i]() == NULL) return 1;
  }
  return 0;
}
