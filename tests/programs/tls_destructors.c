// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Thread-specific data whose destructors allocate and free, round after round (POSIX allows four),
// after the thread's main function has long returned. Destructors run before and behind ours.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct Value {
  int key, round;
};
static pthread_key_t g_keys[8];
static int g_runs;

static void Set(int key, int round, size_t bytes) {
  struct Value* value = malloc(bytes);
  value->key = key;
  value->round = round;
  pthread_setspecific(g_keys[key], value);
}

static void Destroy(void* opaque) {
  const struct Value value = *(struct Value*)opaque;
  free(opaque);
  __atomic_add_fetch(&g_runs, 1, __ATOMIC_SEQ_CST);
  if (value.round < 4) Set(value.key, value.round + 1, 18018);
}

static void* Work(void* unused) {
  for (int i = 0; i < 8; ++i) Set(i, 1, 19019);
  return unused;
}

int main(void) {
  for (int i = 0; i < 8; ++i) pthread_key_create(&g_keys[i], Destroy);
  for (int round = 0; round < 100; ++round) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) {
      if (pthread_create(&threads[i], NULL, Work, NULL) != 0) return 2;
    }
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  }
  printf("%d runs\n", g_runs);
  return 0;
}
