// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Forks from several threads at once while others allocate and lock: every child allocates, makes a
// thread, and leaves. A child that hangs is killed by its alarm and told.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int g_stop;
static int g_good;

static void* Noise(void* unused) {
  while (!g_stop) {
    free(malloc(1000));
    pthread_mutex_lock(&g_mutex);
    pthread_mutex_unlock(&g_mutex);
  }
  return unused;
}

static void* InChild(void* unused) {
  free(malloc(2000));
  return unused;
}

static void* Fork(void* unused) {
  for (int i = 0; i < 25; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      pthread_t thread;
      if (pthread_create(&thread, NULL, InChild, NULL) != 0 || pthread_join(thread, NULL) != 0)
        _exit(2);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status == 0) __atomic_fetch_add(&g_good, 1, __ATOMIC_RELAXED);
  }
  return unused;
}

int main(void) {
  pthread_t noise[2], forks[4];
  for (int i = 0; i < 2; ++i) pthread_create(&noise[i], NULL, Noise, NULL);
  for (int i = 0; i < 4; ++i) pthread_create(&forks[i], NULL, Fork, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(forks[i], NULL);
  g_stop = 1;
  for (int i = 0; i < 2; ++i) pthread_join(noise[i], NULL);
  printf("%d of 100 children\n", g_good);
  return 0;
}
