// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A library that takes a lock, starts a thread and allocates while it is initialised, before the
// program and before whatever was preloaded.

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static void* volatile g_blocks[2];

static void* OnThread(void* unused) {
  g_blocks[1] = malloc(54322);
  return unused;
}

__attribute__((constructor)) static void Begin(void) {
  pthread_mutex_lock(&g_mutex);
  pthread_mutex_unlock(&g_mutex);
  pthread_t thread;
  pthread_create(&thread, NULL, OnThread, NULL);
  pthread_join(thread, NULL);
  g_blocks[0] = malloc(54321);
}

__attribute__((visibility("default"))) void Use(void) {
  for (int i = 0; i < 2; ++i) free(g_blocks[i]);
}
