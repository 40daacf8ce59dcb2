// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls that are refused because they would wait for ever, or for what they may not have: none of
// them is a wait. Prints the addresses of the two objects.

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

int main(void) {
  const struct timespec bad = {0, -1};
  pthread_mutex_t mutex;
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutex_lock(&mutex);
  pthread_rwlock_wrlock(&lock);
  for (int i = 0; i < 100; ++i) {
    if (pthread_mutex_lock(&mutex) != EDEADLK) return 2;
    if (pthread_rwlock_wrlock(&lock) != EDEADLK) return 3;
    if (pthread_rwlock_rdlock(&lock) != EDEADLK) return 4;
    if (pthread_join(pthread_self(), NULL) != EDEADLK) return 5;
  }
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  if (pthread_cond_timedwait(&condition, &mutex, &bad) != EINVAL) return 6;
  printf("%zu %zu\n", (size_t)&mutex, (size_t)&lock);
  return 0;
}
