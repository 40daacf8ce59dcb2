// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ends by quick_exit(), whose handlers allocate and wait for a lock that another thread holds.

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static void* volatile g_block;

static volatile int g_is_held;

// Holds the mutex until the first thread waits for it.
static void* Holder(void* main_tid) {
  const volatile int tid = (int)(size_t)main_tid;
  pthread_mutex_lock(&g_mutex);
  g_is_held = 1;
  AwaitSleepOf(&tid);
  pthread_mutex_unlock(&g_mutex);
  return NULL;
}

static void Handler(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, Holder, (void*)(size_t)getpid());
  while (!g_is_held) {}
  pthread_mutex_lock(&g_mutex);
  for (int i = 0; i < 1000; ++i) g_block = malloc(10007);
}

int main(void) {
  at_quick_exit(Handler);
  for (int i = 0; i < 10; ++i) g_block = malloc(10008);
  quick_exit(7);
}
