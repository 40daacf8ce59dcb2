// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that live for microseconds, made by several threads at once: thread_storm MAKERS EACH.
// Every other one is detached, every fifth leaves by pthread_exit.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int g_each, g_lived;

static void* Short(void* odd) {
  free(malloc(16016));
  __atomic_fetch_add(&g_lived, 1, __ATOMIC_SEQ_CST);
  if (odd != NULL) pthread_exit(NULL);
  return NULL;
}

static void* Make(void* unused) {
  for (int i = 0; i < g_each; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, Short, (void*)(size_t)(i % 5 == 0)) != 0) exit(2);
    if (i % 2 == 0) {
      pthread_detach(thread);
    } else {
      pthread_join(thread, NULL);
    }
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int makers = atoi(argv[1]);
  g_each = atoi(argv[2]);
  pthread_t threads[64];
  for (int i = 0; i < makers; ++i) pthread_create(&threads[i], NULL, Make, NULL);
  for (int i = 0; i < makers; ++i) pthread_join(threads[i], NULL);
  while (__atomic_load_n(&g_lived, __ATOMIC_SEQ_CST) < makers * g_each) usleep(1000);
  printf("%d threads lived\n", g_lived);
  return 0;
}
