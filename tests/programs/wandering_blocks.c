// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Blocks wander: one thread allocates them, another frees them, and their addresses come back at
// once. Nothing is live at the end but what libc keeps for itself.
//
//   wandering_blocks COUNT

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPlaces = 64 };

static _Atomic(void*) g_place[kPlaces];
static long g_count;

static void* Produce(void* unused) {
  (void)unused;
  for (long i = 0; i < g_count; ++i) {
    void* block = malloc(100 + (size_t)(i & 7) * 16);
    while (atomic_load(&g_place[i % kPlaces]) != NULL) sched_yield();
    atomic_store(&g_place[i % kPlaces], block);
  }
  return NULL;
}

static void* Consume(void* unused) {
  (void)unused;
  for (long i = 0; i < g_count; ++i) {
    void* block = NULL;
    while ((block = atomic_exchange(&g_place[i % kPlaces], NULL)) == NULL) sched_yield();
    free(block);
  }
  return NULL;
}

int main(int argc, char** argv) {
  g_count = argc > 1 ? atol(argv[1]) : 1000;
  pthread_t producer, consumer;
  if (pthread_create(&producer, NULL, Produce, NULL) != 0) return 1;
  if (pthread_create(&consumer, NULL, Consume, NULL) != 0) return 1;
  pthread_join(producer, NULL);
  pthread_join(consumer, NULL);
  printf("%ld blocks\n", g_count);
  return 0;
}
