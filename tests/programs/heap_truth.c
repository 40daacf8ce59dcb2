// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Allocates a known number of blocks of known sizes from several threads, for the sampler's
// estimate to be compared with: heap_truth THREADS COUNT SIZE... Each thread makes COUNT blocks of
// each size and frees all but every eighth; nothing else allocates. Prints bytes and blocks made
// with those sizes.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int g_count, g_sizes;
static size_t g_size[16];

static void* Work(void* unused) {
  for (int i = 0; i < g_count; ++i) {
    if (i % 1000 == 999)
      usleep(1000);  // the rings must not overflow: losses are another test's matter
    for (int k = 0; k < g_sizes;
         ++k) {  // NOLINT(clang-analyzer-unix.Malloc): leaks some, as wanted
      void* block = malloc(g_size[k]);
      __asm__ volatile("" ::"r"(block) : "memory");
      if (i % 8 != 0 || g_size[k] > 4096) free(block);
    }
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int threads = atoi(argv[1]);
  g_count = atoi(argv[2]);
  for (int i = 3; i < argc && g_sizes < 16; ++i) g_size[g_sizes++] = strtoul(argv[i], NULL, 10);
  pthread_t thread[64];
  for (int i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, Work, NULL);
  for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
  unsigned long long bytes = 0;
  for (int k = 0; k < g_sizes; ++k)
    bytes += (unsigned long long)threads * (unsigned)g_count * g_size[k];
  printf("%llu %llu\n", bytes, (unsigned long long)threads * (unsigned)g_count * (unsigned)g_sizes);
  return 0;
}
