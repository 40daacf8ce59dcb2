// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A known number of contended waits of each kind, after many uncontended ones: contended COUNT.
// Prints the objects' addresses and the count for the test to look for. A wait is certain: the
// other thread holds the object until the waiter sleeps in the kernel.

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER, g_calm = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t g_read = PTHREAD_RWLOCK_INITIALIZER, g_write = PTHREAD_RWLOCK_INITIALIZER;
static sem_t g_semaphore, g_full;
static volatile int g_tid;

static void* Waiter(void* how) {
  g_tid = (int)syscall(SYS_gettid);
  if (how == (void*)0) pthread_mutex_lock(&g_mutex), pthread_mutex_unlock(&g_mutex);
  if (how == (void*)1) pthread_rwlock_rdlock(&g_read), pthread_rwlock_unlock(&g_read);
  if (how == (void*)2) pthread_rwlock_wrlock(&g_write), pthread_rwlock_unlock(&g_write);
  if (how == (void*)3) sem_wait(&g_semaphore);
  return NULL;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 10;
  sem_init(&g_semaphore, 0, 0);
  sem_init(&g_full, 0, 1000);
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&g_calm);
    pthread_mutex_unlock(&g_calm);
    sem_wait(&g_full);
  }
  for (int i = 0; i < count; ++i) {
    for (size_t how = 0; how < 4; ++how) {
      pthread_t thread;
      g_tid = 0;
      if (how == 0) pthread_mutex_lock(&g_mutex);
      if (how == 1) pthread_rwlock_wrlock(&g_read);
      if (how == 2) pthread_rwlock_rdlock(&g_write);
      pthread_create(&thread, NULL, Waiter, (void*)how);
      AwaitSleepOf(&g_tid);
      usleep(2000);
      if (how == 0) pthread_mutex_unlock(&g_mutex);
      if (how == 1) pthread_rwlock_unlock(&g_read);
      if (how == 2) pthread_rwlock_unlock(&g_write);
      if (how == 3) sem_post(&g_semaphore);
      pthread_join(thread, NULL);
    }
  }
  printf("%d %zu %zu %zu %zu %zu %zu\n", count, (size_t)&g_mutex, (size_t)&g_read, (size_t)&g_write,
         (size_t)&g_semaphore, (size_t)&g_calm, (size_t)&g_full);
  return 0;
}
