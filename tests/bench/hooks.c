// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What one hooked call costs: loops over a malloc+free pair, an uncontended and a contended mutex
// pair, and a read of 4 KiB from the page cache, timed by the program itself. Run bare and under
// each recorder in turn by tests/bench/hooks.py. Prints name=ns per pair, one a line: the median
// over the batches, so that a preempted batch does not count.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kBatches = 61, kPairs = 100000 };

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double Median(double* values) {
  qsort(values, kBatches, sizeof(double), Compare);
  return values[kBatches / 2];
}

static __attribute__((noinline)) void MallocPairs(int count) {
  for (int i = 0; i < count; ++i) {
    void* volatile block = malloc(64);
    free(block);
  }
}

// The same below `depth` frames, for recorders that take stacks.
static __attribute__((noinline)) void Deeper(int depth, int count) {
  if (depth == 0) {
    MallocPairs(count);
  } else {
    Deeper(depth - 1, count);
  }
  __asm__ volatile("");  // not a tail call
}

static double TimeMalloc(int depth, int pairs) {
  double batch[kBatches];
  for (int i = -1; i < kBatches; ++i) {  // the first only warms up
    const double start = Now();
    Deeper(depth, pairs);
    if (i >= 0) batch[i] = (Now() - start) / pairs;
    usleep(5000);  // a recorder's reader empties its buffer
  }
  return Median(batch);
}

static double TimeMutex(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  double batch[kBatches];
  for (int i = 0; i < kBatches; ++i) {
    const double start = Now();
    for (int j = 0; j < kPairs; ++j) {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    }
    batch[i] = (Now() - start) / kPairs;
  }
  return Median(batch);
}

// Two threads that want the same lock most of the time: what a recorder does within a contended
// section the other has to wait for.
enum { kContended = 1000, kInside = 60, kOutside = 20 };
static pthread_mutex_t g_contended = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned g_work;

static void Spin(int rounds) {
  for (int i = 0; i < rounds; ++i) __asm__ volatile("pause");
}

static void* Contend(void* unused) {
  for (int i = 0; i < kContended; ++i) {
    pthread_mutex_lock(&g_contended);
    ++g_work;
    Spin(kInside);
    pthread_mutex_unlock(&g_contended);
    Spin(kOutside);
  }
  return unused;
}

static double TimeContended(void) {
  double batch[kBatches];
  for (int i = 0; i < kBatches; ++i) {
    pthread_t other;
    const double start = Now();
    pthread_create(&other, NULL, Contend, NULL);
    Contend(NULL);
    pthread_join(other, NULL);
    batch[i] = (Now() - start) / (2 * kContended);
  }
  return Median(batch);
}

// Of this program's own file, which is in the page cache.
static double TimeRead(int reads) {
  static char buffer[4096];
  const int fd = open("/proc/self/exe", O_RDONLY);
  double batch[kBatches];
  for (int i = -1; i < kBatches; ++i) {
    const double start = Now();
    for (int j = 0; j < reads; ++j) {
      if (pread(fd, buffer, sizeof buffer, 0) != sizeof buffer) return 0;
    }
    if (i >= 0) batch[i] = (Now() - start) / reads;
    usleep(5000);
  }
  close(fd);
  return Median(batch);
}

static void* Nothing(void* argument) { return argument; }

int main(int argc, char** argv) {
  // Batches small enough for a recorder's default buffers: what is measured is recording, not
  // dropping.
  const int pairs = argc > 1 ? atoi(argv[1]) : 8000;
  pthread_t thread;  // a multi-threaded process, as real ones are: libc takes its locking paths
  pthread_create(&thread, NULL, Nothing, NULL);
  pthread_join(thread, NULL);
  usleep(200000);  // past every recorder's start
  printf("malloc_pair_ns=%.2f\n", TimeMalloc(0, pairs));
  printf("malloc_pair_depth20_ns=%.2f\n", TimeMalloc(20, pairs / 10));
  printf("mutex_pair_ns=%.2f\n", TimeMutex());
  printf("contended_pair_ns=%.2f\n", TimeContended());
  printf("read_4k_ns=%.2f\n", TimeRead(pairs));
  return 0;
}
