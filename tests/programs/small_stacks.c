// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads whose stacks are as small as the system allows (16 KiB with PTHREAD_STACK_MIN), and one
// whose recursion goes a few MiB deep: each allocates at its deepest point. What runs in a hook
// must fit.

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static long g_done;

static void* Small(void* unused) {
  for (int i = 0; i < 50; ++i) {
    char* block = realloc(malloc(13579), 24680);
    pthread_mutex_lock(&g_mutex);
    ++g_done;
    pthread_mutex_unlock(&g_mutex);
    free(block);
  }
  return unused;
}

static size_t Deep(int left) {
  volatile char here[64];
  here[0] = (char)left;
  char* block = malloc(35791);
  const size_t sum = left > 0 ? Deep(left - 1) : 0;
  free(block);
  return sum + (size_t)(here[0] != (char)left);
}

static void* DeepThread(void* unused) {
  if (Deep(20000) != 0) abort();
  return unused;
}

int main(void) {
  pthread_attr_t small, large;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 16 * 1024 < PTHREAD_STACK_MIN ? PTHREAD_STACK_MIN : 16 * 1024);
  for (int round = 0; round < 10; ++round) {
    pthread_t threads[8];
    for (int i = 0; i < 8; ++i) {
      if (pthread_create(&threads[i], &small, Small, NULL) != 0) return 2;
    }
    for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  }
  pthread_attr_init(&large);
  pthread_attr_setstacksize(&large, 16 << 20);
  pthread_t deep;
  if (pthread_create(&deep, &large, DeepThread, NULL) != 0) return 3;
  pthread_join(deep, NULL);
  printf("%ld\n", g_done);
  return 0;
}
