// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that wait for each other in other ways than for plain locks, until the process is killed:
// circles join: main holds a mutex and joins a thread that wants it; joins: two threads join each
// other; timed: each of two threads holds the mutex that the other wants, but for some time only.

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t g_mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t g_both;
static pthread_t g_threads[2];

static void* Killer(void* unused) {
  usleep(500000);
  kill(getpid(), SIGKILL);
  return unused;
}

static void* WantsFirst(void* unused) {
  pthread_mutex_lock(&g_mutex[0]);
  return unused;
}

static void* JoinsOther(void* number) {
  pthread_barrier_wait(&g_both);
  pthread_join(g_threads[1 - (size_t)number], NULL);
  return NULL;
}

static void* WantsOtherForAWhile(void* number) {
  const size_t mine = (size_t)number;
  pthread_mutex_lock(&g_mutex[mine]);
  pthread_barrier_wait(&g_both);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 60;
  pthread_mutex_timedlock(&g_mutex[1 - mine], &until);
  return NULL;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "join";
  usleep(200000);
  pthread_t killer;
  pthread_create(&killer, NULL, Killer, NULL);
  if (strcmp(how, "join") == 0) {
    pthread_mutex_lock(&g_mutex[0]);
    pthread_create(&g_threads[0], NULL, WantsFirst, NULL);
    usleep(100000);
    pthread_join(g_threads[0], NULL);
  }
  pthread_barrier_init(&g_both, NULL, 3);
  for (size_t i = 0; i < 2; ++i) {
    pthread_create(&g_threads[i], NULL,
                   strcmp(how, "joins") == 0 ? JoinsOther : WantsOtherForAWhile, (void*)i);
  }
  pthread_barrier_wait(&g_both);
  for (;;) pause();
}
