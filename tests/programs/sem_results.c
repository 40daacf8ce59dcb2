// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Semaphores and condition variables: results, errno, interruption by a handler without SA_RESTART,
// timeouts. The output is the test.

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

static sem_t g_semaphore;
static pthread_t g_main;
static volatile int g_handled, g_main_tid;

static void Tell(const char* what, int result) {
  const int error = errno;
  printf("%s: %d, %s\n", what, result, strerror(error));
  errno = 44;
}
static void Handle(int number) { g_handled += number == SIGALRM; }
static void* Interrupt(void* unused) {
  AwaitSleepOf(&g_main_tid);
  pthread_kill(g_main, SIGALRM);
  return unused;
}
static struct timespec In(clockid_t clock, long ms) {
  struct timespec until;
  clock_gettime(clock, &until);
  until.tv_nsec += ms * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return until;
}
static void Interrupted(const char* what, int flags, int timed) {
  struct sigaction action = {0};
  action.sa_handler = Handle;
  action.sa_flags = flags;
  sigaction(SIGALRM, &action, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, Interrupt, NULL);
  const struct timespec until = In(CLOCK_REALTIME, 10000);
  errno = 44;
  Tell(what, timed ? sem_timedwait(&g_semaphore, &until) : sem_wait(&g_semaphore));
  pthread_join(thread, NULL);
}

int main(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  g_main = pthread_self();
  g_main_tid = getpid();
  sem_init(&g_semaphore, 0, 1);
  errno = 44;
  Tell("free", sem_wait(&g_semaphore));
  Tell("try", sem_trywait(&g_semaphore));
  struct timespec until = In(CLOCK_REALTIME, 20);
  Tell("timed", sem_timedwait(&g_semaphore, &until));
  until = In(CLOCK_MONOTONIC, 20);
  Tell("clock", sem_clockwait(&g_semaphore, CLOCK_MONOTONIC, &until));
  until.tv_nsec = -1;
  Tell("bad time", sem_timedwait(&g_semaphore, &until));
  sem_post(&g_semaphore);
  Tell("bad time, free", sem_timedwait(&g_semaphore, &until));
  Tell("still free", sem_trywait(&g_semaphore));
  Interrupted("interrupted", 0, 0);
  Interrupted("timed, interrupted", 0, 1);
  Interrupted("timed, restarted", SA_RESTART, 1);
  pthread_mutex_lock(&mutex);
  until = In(CLOCK_REALTIME, 20);
  Tell("condition", pthread_cond_timedwait(&condition, &mutex, &until));
  until = In(CLOCK_MONOTONIC, 20);
  Tell("condition clock", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until));
  until.tv_nsec = -1;
  Tell("condition bad time", pthread_cond_timedwait(&condition, &mutex, &until));
  printf("handled %d\n", g_handled);
  return 0;
}
