// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Three threads wait for a condition. One broadcast wakes them, and each then works for 100 ms
// while it holds the mutex: so two of them wait for the mutex inside pthread_cond_wait, 100 and 200
// ms. With the argument "c11" by the functions of C11. Prints the addresses of condition and mutex.

#include <pthread.h>
#include <stdio.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
static mtx_t g_c11_mutex;
static cnd_t g_c11_condition;
static int g_awake, g_arrived;  // under the mutex

static void* Wait(void* unused) {
  pthread_mutex_lock(&g_mutex);
  ++g_arrived;
  while (!g_awake) pthread_cond_wait(&g_condition, &g_mutex);
  usleep(100000);
  pthread_mutex_unlock(&g_mutex);
  return unused;
}

static int WaitByC11(void* unused) {
  (void)unused;
  mtx_lock(&g_c11_mutex);
  ++g_arrived;
  while (!g_awake) cnd_wait(&g_c11_condition, &g_c11_mutex);
  usleep(100000);
  mtx_unlock(&g_c11_mutex);
  return 0;
}

static void ByC11(void) {
  mtx_init(&g_c11_mutex, mtx_plain);
  cnd_init(&g_c11_condition);
  thrd_t threads[3];
  for (int i = 0; i < 3; ++i) thrd_create(&threads[i], WaitByC11, NULL);
  mtx_lock(&g_c11_mutex);
  while (g_arrived < 3) {
    mtx_unlock(&g_c11_mutex);
    usleep(1000);
    mtx_lock(&g_c11_mutex);
  }
  g_awake = 1;
  cnd_broadcast(&g_c11_condition);
  mtx_unlock(&g_c11_mutex);
  for (int i = 0; i < 3; ++i) thrd_join(threads[i], NULL);
  printf("%zu %zu\n", (size_t)&g_c11_condition, (size_t)&g_c11_mutex);
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return ByC11(), 0;
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, Wait, NULL);
  pthread_mutex_lock(&g_mutex);
  while (g_arrived < 3) {
    pthread_mutex_unlock(&g_mutex);
    usleep(1000);
    pthread_mutex_lock(&g_mutex);
  }
  g_awake = 1;
  pthread_cond_broadcast(&g_condition);
  pthread_mutex_unlock(&g_mutex);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  printf("%zu %zu\n", (size_t)&g_condition, (size_t)&g_mutex);
  return 0;
}
