// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// An allocator of another library's: preloaded, it serves the program from an arena. A thread that
// asks for 5,000 bytes sits in it until a signal, as if it waited for a lock of the allocator's.

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static char g_arena[64 << 20] __attribute__((aligned(64)));
static size_t g_used;

static void* Take(size_t bytes, size_t alignment) {
  const size_t room = (bytes + 64 + alignment + 63) & ~(size_t)63;
  const size_t at = __atomic_fetch_add(&g_used, room, __ATOMIC_RELAXED);
  if (at + room > sizeof g_arena) return NULL;
  uintptr_t block = ((uintptr_t)(g_arena + at) + 64 + alignment - 1) & ~(uintptr_t)(alignment - 1);
  ((size_t*)block)[-1] = bytes;
  return (void*)block;
}

static void Sit(size_t bytes) {
  if (bytes != 5000) return;
  const struct timespec time = {3600, 0};
  nanosleep(&time, NULL);
}

void* malloc(size_t bytes) {
  Sit(bytes);
  return Take(bytes, 16);
}
void* calloc(size_t count, size_t size) { return Take(count * size, 16); }
void free(void* block) { (void)block; }
void* realloc(void* block, size_t bytes) {
  void* moved = Take(bytes, 16);
  if (block != NULL && moved != NULL) {
    const size_t before = ((size_t*)block)[-1];
    memcpy(moved, block, before < bytes ? before : bytes);
  }
  return moved;
}
void* memalign(size_t alignment, size_t bytes) { return Take(bytes, alignment); }
void* aligned_alloc(size_t alignment, size_t bytes) { return Take(bytes, alignment); }
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  *out = Take(bytes, alignment);
  return *out == NULL ? 12 : 0;
}
