// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that use a known processor time, then sleep and end: burners MS... Each MS makes a thread
// that lives for half a second.

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void* Burn(void* milliseconds) {
  const long wanted = (long)milliseconds;
  struct timespec used;
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  } while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < wanted);
  usleep((useconds_t)(500 - wanted) * 1000);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[16];
  const int count = argc - 1 < 16 ? argc - 1 : 16;
  for (int i = 0; i < count; ++i) {
    pthread_create(&threads[i], NULL, Burn, (void*)strtol(argv[i + 1], NULL, 10));
  }
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  return 0;
}
