// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What unload.c loads, built twice: with and without GPUPROF_VICTIM_OTHER, so that the frames of
// the two differ at the same addresses. Per load: one block of 65011 bytes in the constructor,
// freed by the destructor; one of 65012 from the bottom of a recursion, freed by the caller; one of
// 65013 in the destructor.

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static char* g_kept;

#ifdef GPUPROF_VICTIM_OTHER
enum { kFrame = 216, kValue = 2 };
#else
enum { kFrame = 24, kValue = 1 };
#endif

__attribute__((constructor)) static void Begin(void) { g_kept = malloc(65011); }

__attribute__((destructor)) static void End(void) {
  pthread_mutex_lock(&g_mutex);
  free(malloc(65013));
  free(g_kept);
  pthread_mutex_unlock(&g_mutex);
}

__attribute__((noinline)) static char* Deeper(int left, volatile char* above) {
  volatile char here[kFrame];
  here[0] = (char)(left + above[0]);
  char* block = left > 0 ? Deeper(left - 1, here) : malloc(65012);
  here[kFrame - 1] = here[0];
  return here[kFrame - 1] == here[0] ? block : NULL;
}

__attribute__((visibility("default"))) char* Work(int depth) {
  volatile char zero[1] = {0};
  pthread_mutex_lock(&g_mutex);
  char* block = Deeper(depth, zero);
  pthread_mutex_unlock(&g_mutex);
  block[0] = kValue;
  return block;
}
