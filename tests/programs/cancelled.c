// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads cancelled where they wait (condition, semaphore, a timed wait), and by asynchronous
// cancellation in a computation. The clean-up handlers must find the mutex locked again, and the
// mutex must work afterwards.

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
static sem_t g_semaphore;
static int g_cleaned;
static int g_arrived;  // under the mutex

static void Unlock(void* mutex) {
  g_cleaned += pthread_mutex_trylock(mutex) == EBUSY;  // held by us again
  free(malloc(17017));
  pthread_mutex_unlock(mutex);
}

static void* Wait(void* how) {
  struct timespec far;
  clock_gettime(CLOCK_REALTIME, &far);
  far.tv_sec += 1000;
  if (how == (void*)0) {
    sem_wait(&g_semaphore);
  } else if (how == (void*)1) {
    sem_timedwait(&g_semaphore, &far);
  } else if (how == (void*)4) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) __asm__ volatile("");
  } else {
    pthread_mutex_lock(&g_mutex);
    pthread_cleanup_push(Unlock, &g_mutex);
    g_arrived = 1;
    while (how == (void*)2) pthread_cond_wait(&g_condition, &g_mutex);
    for (;;) pthread_cond_timedwait(&g_condition, &g_mutex, &far);
    pthread_cleanup_pop(1);
  }
  return NULL;
}

// Until the thread waits for the condition: it gives the mutex up there and nowhere before.
static void AwaitArrival(void) {
  for (int arrived = 0; arrived == 0;) {
    usleep(2000);
    pthread_mutex_lock(&g_mutex);
    arrived = g_arrived;
    g_arrived = 0;
    pthread_mutex_unlock(&g_mutex);
  }
}

int main(void) {
  sem_init(&g_semaphore, 0, 0);
  int cancelled = 0;
  for (int round = 0; round < 20; ++round) {
    for (size_t how = 0; how < 5; ++how) {
      pthread_t thread;
      void* result = NULL;
      if (pthread_create(&thread, NULL, Wait, (void*)how) != 0) return 2;
      const int has_mutex = how == 2 || how == 3;
      if (round % 2 == 0) has_mutex ? AwaitArrival() : (void)usleep(2000);
      pthread_cancel(thread);
      pthread_join(thread, &result);
      cancelled += result == PTHREAD_CANCELED;
      g_arrived = 0;
    }
  }
  // A thread cancelled before it took the mutex has nothing to clean up: only the slow rounds are
  // certain.
  printf("%d cancelled, mutex %d\n", cancelled, pthread_mutex_lock(&g_mutex));
  return g_cleaned >= 20 ? 0 : 3;
}
