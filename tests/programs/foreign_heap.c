// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Blocks of every origin, resized and freed by every way: an allocator that is handed another one's
// block crashes or complains. Also what libc and the loader allocate for the program, and the
// C23 frees when somebody offers them. foreign_heap THREADS.

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) void free_sized(void* block, size_t size);
__attribute__((weak)) void free_aligned_sized(void* block, size_t alignment, size_t size);

static int g_wrong;

static void Check(void* block, size_t size) {
  if (block == NULL || malloc_usable_size(block) < size) {
    __atomic_fetch_add(&g_wrong, 1, __ATOMIC_RELAXED);
    return;
  }
  memset(block, 0x5a, size);
}

static void* Any(int kind, size_t size) {
  void* block = NULL;
  switch (kind) {
    case 0:
      return malloc(size);
    case 1:
      return calloc(1, size);
    case 2:
      return realloc(NULL, size);
    case 3:
      return posix_memalign(&block, 256, size) == 0 ? block : NULL;
    case 4:
      return aligned_alloc(64, size / 64 * 64 + 64);
    case 5:
      return memalign(4096, size);
    case 6:
      return reallocarray(NULL, size / 8 + 1, 8);
    default:
      return valloc(size);
  }
}

static void* Family(void* unused) {
  for (int round = 0; round < 30; ++round) {
    for (int kind = 0; kind < 8; ++kind) {
      const size_t size = 100 + (size_t)(round * 1000 * (kind + 1));
      void* block = Any(kind, size);
      Check(block, size);
      if (round % 3 == 1) block = realloc(block, size * 3);
      if (round % 3 == 2) block = reallocarray(block, size, 2);
      Check(block, size);
      if (free_sized != NULL && kind == 0 && round % 3 == 0) {
        free_sized(block, size);
      } else if (free_aligned_sized != NULL && kind == 4 && round % 3 == 0) {
        free_aligned_sized(block, 64, size / 64 * 64 + 64);
      } else {
        free(block);
      }
    }
    free(malloc(66001));
  }
  return unused;
}

// Allocated by libc, freed by the program.
static void FromLibc(void) {
  char* text = strdup("a line that libc copies");
  char* made = NULL;
  if (asprintf(&made, "%s, %d times", text, 7) < 0) ++g_wrong;
  char* buffer = NULL;
  size_t size = 0;
  FILE* stream = open_memstream(&buffer, &size);
  for (int i = 0; i < 1000; ++i) fputs(made, stream);
  fclose(stream);
  FILE* lines = fopen("/proc/self/status", "r");
  char* line = NULL;
  size_t room = 0;
  while (getline(&line, &room, lines) > 0) {}
  fclose(lines);
  char* path = realpath("/usr/../usr/lib", NULL);
  printf("%zu bytes, %s\n", size, path);
  free(text);
  free(made);
  free(buffer);
  free(line);
  free(path);
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 4;
  pthread_t threads[16];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, Family, NULL);
    Family(NULL);
    FromLibc();
    void* library = dlopen("libm.so.6", RTLD_NOW);
    for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
    dlclose(library);
  }
  printf("%d wrong, %d marks\n", g_wrong, 3 * 30 * (count + 1));
  return 0;
}
