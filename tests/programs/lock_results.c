// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Every return value that mutexes, reader-writer locks and barriers document, where a wrapper that
// tries first could change it: recursion, error checking, a dead owner, too many readers, deadlock,
// timeouts. The output is the test.

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t g_mutex;
static pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void Tell(const char* what, int result) {
  printf("%s: %s, errno %d\n", what, strerror(result), errno);
}

static struct timespec In(clockid_t clock, long ms) {
  struct timespec until;
  clock_gettime(clock, &until);
  until.tv_nsec += ms * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return until;
}

static void* Die(void* mutex) { return (void*)(size_t)pthread_mutex_lock(mutex); }
static void* Try(void* mutex) {
  const struct timespec soon = In(CLOCK_REALTIME, 20), soon_too = In(CLOCK_MONOTONIC, 20),
                        past = {0, 0}, bad = {0, -1};
  Tell("other try", pthread_mutex_trylock(mutex));
  Tell("other timed", pthread_mutex_timedlock(mutex, &soon));
  Tell("other clock", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon_too));
  Tell("other past", pthread_mutex_timedlock(mutex, &past));
  Tell("other bad time", pthread_mutex_timedlock(mutex, &bad));
  Tell("other unlock", pthread_mutex_unlock(mutex));
  return NULL;
}
static void* TryRwlock(void* unused) {
  const struct timespec soon = In(CLOCK_REALTIME, 20), soon_too = In(CLOCK_MONOTONIC, 20);
  Tell("rwlock read", pthread_rwlock_timedrdlock(&g_rwlock, &soon));
  Tell("rwlock write", pthread_rwlock_clockwrlock(&g_rwlock, CLOCK_MONOTONIC, &soon_too));
  return unused;
}

static void Run(void* (*function)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, argument);
  pthread_join(thread, NULL);
}

static void Mutex(const char* name, int type, int robust) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&g_mutex, &attributes);
  printf("-- %s\n", name);
  if (robust) {
    Run(Die, &g_mutex);
    Tell("after death", pthread_mutex_lock(&g_mutex));
    if (type != PTHREAD_MUTEX_RECURSIVE) Tell("consistent", pthread_mutex_consistent(&g_mutex));
  } else {
    Tell("lock", pthread_mutex_lock(&g_mutex));
  }
  if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
    Tell("again", pthread_mutex_lock(&g_mutex));
  Run(Try, &g_mutex);
  Tell("unlock", pthread_mutex_unlock(&g_mutex));
  if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
    Tell("unlock again", pthread_mutex_unlock(&g_mutex));
  if (robust) Tell("unrecovered or free", pthread_mutex_lock(&g_mutex));
  pthread_mutex_destroy(&g_mutex);
}

int main(void) {
  errno = 33;  // none of these sets it
  Mutex("normal", PTHREAD_MUTEX_NORMAL, 0);
  Mutex("recursive", PTHREAD_MUTEX_RECURSIVE, 0);
  Mutex("errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0);
  Mutex("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0);
  Mutex("robust", PTHREAD_MUTEX_NORMAL, 1);
  Mutex("robust recursive", PTHREAD_MUTEX_RECURSIVE, 1);
  Mutex("robust errorcheck", PTHREAD_MUTEX_ERRORCHECK, 1);
  Tell("write", pthread_rwlock_wrlock(&g_rwlock));
  Tell("write again", pthread_rwlock_wrlock(&g_rwlock));
  Tell("read of writer", pthread_rwlock_rdlock(&g_rwlock));
  Run(TryRwlock, NULL);
  Tell("unlock", pthread_rwlock_unlock(&g_rwlock));
  return 0;
}
