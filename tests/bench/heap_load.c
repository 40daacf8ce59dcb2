// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A steady load of heap events for tests/bench/sustained.py: THREADS threads together make RATE
// million events a second for SECONDS. Blocks of many sizes live for a while and die in another
// order than they were born, below DEPTH frames, so that traces hold what real programs' do. Prints
// events=, seconds= and cpu_s= (the program's threads only).
//
//   heap_load RATE SECONDS [THREADS [DEPTH]]        RATE 0: as fast as it goes

#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kSlots = 2048, kBatch = 64, kMostThreads = 64 };

static double g_rate;  // events a second, of one thread
static double g_seconds;
static int g_depth;

struct Work {
  uint64_t events;
  double cpu;
  double elapsed;
  uint64_t random;
  void* slot[kSlots];
};

static double Clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline uint64_t Random(struct Work* work) {
  work->random ^= work->random << 13;
  work->random ^= work->random >> 7;
  work->random ^= work->random << 17;
  return work->random;
}

// Mostly small, now and then large, as heaps are.
static inline size_t SizeOf(uint64_t random) {
  const unsigned scale = (unsigned)(random >> 40) & 15;
  return 16 + (random & 15) * 8 + (scale == 0 ? (random >> 8 & 63) * 64 : 0);
}

static __attribute__((noinline)) void Batch(struct Work* work) {
  for (int i = 0; i < kBatch; ++i) {
    const uint64_t random = Random(work);
    void** slot = &work->slot[random >> 20 & (kSlots - 1)];
    free(*slot);
    *slot = malloc(SizeOf(random));
  }
  work->events += 2 * kBatch;
}

static __attribute__((noinline)) void Deeper(struct Work* work, int depth) {
  if (depth > 0) {
    Deeper(work, depth - 1);
  } else {
    Batch(work);
  }
  __asm__ volatile("");  // not a tail call
}

static void* Run(void* argument) {
  struct Work* work = argument;
  for (int i = 0; i < kSlots; ++i) work->slot[i] = malloc(SizeOf(Random(work)));
  const double start = Clock(CLOCK_MONOTONIC);
  double now = start;
  double due = start;
  while (now - start < g_seconds) {
    Deeper(work, g_depth);
    now = Clock(CLOCK_MONOTONIC);
    if (g_rate > 0) {
      due += 2 * kBatch / g_rate;
      // Behind schedule (preempted): goes on at the same pace, does not catch up in a burst.
      if (due < now) due = now;
      while (now < due) now = Clock(CLOCK_MONOTONIC);
    }
  }
  work->elapsed = now - start;
  work->cpu = Clock(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < kSlots; ++i) free(work->slot[i]);
  work->events += 2 * kSlots;
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  if (threads < 1 || threads > kMostThreads) return 2;
  g_rate = atof(argv[1]) * 1e6 / threads;
  g_seconds = atof(argv[2]);
  g_depth = argc > 4 ? atoi(argv[4]) : 0;
  usleep(200000);  // past every recorder's start
  static struct Work work[kMostThreads];
  pthread_t thread[kMostThreads];
  for (int i = 0; i < threads; ++i) {
    work[i].random = 88172645463325252u + (uint64_t)i;
    pthread_create(&thread[i], NULL, Run, &work[i]);
  }
  uint64_t events = 0;
  double cpu = 0, elapsed = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(thread[i], NULL);
    events += work[i].events;
    cpu += work[i].cpu;
    if (work[i].elapsed > elapsed) elapsed = work[i].elapsed;
  }
  printf("events=%llu\nseconds=%.4f\ncpu_s=%.4f\n", (unsigned long long)events, elapsed, cpu);
  return 0;
}
