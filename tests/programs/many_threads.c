// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Many threads alive at the same moment: many_threads COUNT [MILLISECONDS]. Each allocates once
// before and once after the moment, or the time, in which all exist.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t g_all;
static unsigned g_pause;

static void* Work(void* unused) {
  free(malloc(14014));
  pthread_barrier_wait(&g_all);
  usleep(g_pause);
  free(malloc(15015));
  return unused;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1000;
  g_pause = argc > 2 ? 1000 * (unsigned)atoi(argv[2]) : 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  pthread_barrier_init(&g_all, NULL, (unsigned)count + 1);
  pthread_t* threads = calloc((size_t)count, sizeof(*threads));
  for (int i = 0; i < count; ++i) {
    if (pthread_create(&threads[i], &attributes, Work, NULL) != 0) return 2;
  }
  pthread_barrier_wait(&g_all);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  printf("%d threads\n", count);
  free(threads);
  return 0;
}
