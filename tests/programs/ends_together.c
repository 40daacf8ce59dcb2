// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that nobody waits for end while the program does: ends_together THREADS. Each allocates
// 32,032 bytes once; main returns when all have.

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static int g_done;

static void* Allocate(void* unused) {
  free(malloc(32032));
  __atomic_fetch_add(&g_done, 1, __ATOMIC_SEQ_CST);
  return unused;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 32;
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, Allocate, NULL) != 0) return 2;
    pthread_detach(thread);
  }
  while (__atomic_load_n(&g_done, __ATOMIC_SEQ_CST) < threads) sched_yield();
  return 0;
}
