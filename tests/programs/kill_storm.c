// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that allocate and free without end until they are killed: kill_storm THREADS COUNTERS
// [PAUSE_US]. Each tells in a shared file how many allocations it has begun and how many have
// returned, so that a trace found after SIGKILL can be judged.

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct Counter {
  volatile int64_t tid, begun, done, spare[5];
};
static int g_pause;

static void* Work(void* opaque) {  // never returns
  struct Counter* counter = opaque;
  counter->tid = syscall(SYS_gettid);
  for (int64_t i = 0;; ++i) {
    counter->begun = i + 1;
    void* block = malloc(34567);
    __asm__ volatile("" ::"r"(block) : "memory");
    counter->done = i + 1;
    free(block);
    if (i % 16 == 0) usleep((useconds_t)g_pause);
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int threads = atoi(argv[1]);
  g_pause = argc > 3 ? atoi(argv[3]) : 200;
  const int fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || ftruncate(fd, 65536) != 0) return 3;
  struct Counter* counters = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  for (int i = 1; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, Work, &counters[i]) != 0) return 4;
  }
  puts("ready");
  fflush(stdout);
  Work(&counters[0]);
  return 0;
}
