// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ping-pong over a condition variable, and threads that meet at a barrier: conditions ROUNDS.
// Prints the addresses and the number of calls that returned from each.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t g_barrier;
static int g_rounds, g_turn, g_waits, g_meetings;

static void* Play(void* me) {
  for (int i = 0; i < g_rounds; ++i) {
    // On one busy processor the first might always have been there by the time the second comes.
    if (me == NULL && i % 20 == 0) usleep(1000);
    pthread_mutex_lock(&g_mutex);
    while (g_turn != (int)(size_t)me) {
      pthread_cond_wait(&g_condition, &g_mutex);
      ++g_waits;
    }
    g_turn = !g_turn;
    pthread_cond_signal(&g_condition);
    pthread_mutex_unlock(&g_mutex);
    pthread_barrier_wait(&g_barrier);
    __atomic_fetch_add(&g_meetings, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

int main(int argc, char** argv) {
  g_rounds = argc > 1 ? atoi(argv[1]) : 100;
  pthread_barrier_init(&g_barrier, NULL, 2);
  pthread_t threads[2];
  for (size_t i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, Play, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  printf("%zu %d %zu %d\n", (size_t)&g_condition, g_waits, (size_t)&g_barrier, g_meetings);
  return 0;
}
