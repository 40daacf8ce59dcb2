// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program with an allocator of its own, linked into the executable, with a lock that the
// allocator holds most of the time: it comes before every preloaded one. Allocates and sleeps,
// until end of file on stdin.

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kBytes = 64 << 20 };
static char g_memory[kBytes] __attribute__((aligned(64)));
static size_t g_used;
static volatile int g_lock;

static void* Take(size_t alignment, size_t size) {
  while (__atomic_exchange_n(&g_lock, 1, __ATOMIC_ACQUIRE) != 0) {}
  size_t begin = (g_used + alignment - 1) & ~(alignment - 1);
  void* block = NULL;
  if (begin + size < kBytes) {
    block = g_memory + begin;
    g_used = begin + size;
  }
  for (volatile int i = 0; i < 20000; ++i) {}
  __atomic_store_n(&g_lock, 0, __ATOMIC_RELEASE);
  return block;
}

void* malloc(size_t size) { return Take(16, size); }
void* calloc(size_t count, size_t size) { return Take(16, count * size); }
void* memalign(size_t alignment, size_t size) {
  return Take(alignment < 16 ? 16 : alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
void free(void* block) { (void)block; }
void* realloc(void* block, size_t size) {
  void* moved = Take(16, size);
  if (moved != NULL && block != NULL) {
    const size_t most = (size_t)(g_memory + kBytes - (char*)block);
    memmove(moved, block, size < most ? size : most);
  }
  return moved;
}

int main(void) {
  struct pollfd wait = {0, POLLIN, 0};
  puts("ready");
  fflush(stdout);
  while (poll(&wait, 1, 2) <= 0)
    for (int i = 0; i < 100; ++i) free(malloc(10));
  return 0;
}
