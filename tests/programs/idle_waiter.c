// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A thread that waits for a condition from the program's beginning to its end, which comes with end
// of file on stdin.

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
static int g_is_waiting, g_is_over;

static void* Wait(void* unused) {
  pthread_mutex_lock(&g_mutex);
  g_is_waiting = 1;
  while (!g_is_over) pthread_cond_wait(&g_condition, &g_mutex);
  pthread_mutex_unlock(&g_mutex);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, Wait, NULL);
  // The waiter gives the mutex up within its wait.
  for (int is_waiting = 0; !is_waiting;) {
    pthread_mutex_lock(&g_mutex);
    is_waiting = g_is_waiting;
    pthread_mutex_unlock(&g_mutex);
  }
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {}
  pthread_mutex_lock(&g_mutex);
  g_is_over = 1;
  pthread_cond_signal(&g_condition);
  pthread_mutex_unlock(&g_mutex);
  pthread_join(thread, NULL);
  return 0;
}
