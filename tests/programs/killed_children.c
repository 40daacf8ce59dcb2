// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Starts itself again and again and kills each child at a random moment of its first milliseconds:
// killed_children COUNTERS COUNT SEED. A child counts in its slot of a shared file (mapped before
// its first allocation) what it has begun and what has returned, on two threads. The file is an
// array of struct Slot. A child's first milliseconds are long ones on a busy machine: one child in
// sixteen is waited for until it has said who it is, and how long that took spreads the moments of
// the next fifteen.

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 2, kSize = 72001 };

struct Counter {
  volatile int64_t tid, begun, done, spare;
};
struct Slot {
  volatile int64_t pid, killed_us, spare[2];
  struct Counter counter[kThreads];
};

static int g_pause;

static void* Work(void* opaque) {  // never returns
  struct Counter* counter = opaque;
  counter->tid = syscall(SYS_gettid);
  for (int64_t i = 0;; ++i) {
    counter->begun = i + 1;
    void* block = malloc(kSize);
    __asm__ volatile("" ::"r"(block) : "memory");
    counter->done = i + 1;
    free(block);
    if (g_pause != 0 && i % 8 == 0) usleep((useconds_t)g_pause);
  }
}

static struct Slot* Map(const char* path, size_t count) {
  const int fd = open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)(count * sizeof(struct Slot))) != 0) exit(3);
  void* memory = mmap(NULL, count * sizeof(struct Slot), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) exit(3);
  close(fd);
  return memory;
}

static int Child(char** argv, size_t count) {
  struct Slot* slot = &Map(argv[1], count)[atol(argv[4])];
  slot->pid = getpid();
  g_pause = atoi(argv[5]);
  pthread_t thread;
  if (pthread_create(&thread, NULL, Work, &slot->counter[1]) != 0) return 4;
  Work(&slot->counter[0]);
  return 0;
}

static long NowUs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

// How long it took until the child of `slot` said who it is, from `since` on.
static long BeginsAfterUs(const struct Slot* slot, long since) {
  while (slot->pid == 0 && NowUs() - since < 600000000) usleep(200);
  return NowUs() - since;
}

static long Longer(long a, long b) { return a > b ? a : b; }

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const size_t count = (size_t)atol(argv[2]);
  if (argc > 5) return Child(argv, count);
  struct Slot* slots = Map(argv[1], count);
  unsigned seed = (unsigned)atoi(argv[3]);
  size_t killed = 0;
  long begins_us = 0;
  for (size_t i = 0; i < count; ++i) {
    char number[32], pause[32];
    snprintf(number, sizeof(number), "%zu", i);
    snprintf(pause, sizeof(pause), "%d", rand_r(&seed) % 4 == 0 ? 0 : 100);
    const long since = NowUs();
    const pid_t child = fork();
    if (child == 0) {
      execl(argv[0], argv[0], argv[1], argv[2], argv[3], number, pause, (char*)NULL);
      _exit(5);
    }
    if (i % 16 == 0) begins_us = BeginsAfterUs(&slots[i], since);
    // Most in the first milliseconds (loading, first records, the tracer's start), some later.
    const long most =
        rand_r(&seed) % 4 == 0 ? Longer(60000, 12 * begins_us) : Longer(12000, 3 * begins_us);
    slots[i].killed_us = rand_r(&seed) % most;
    usleep((useconds_t)slots[i].killed_us);
    kill(child, 9);
    int status = 0;
    if (waitpid(child, &status, 0) == child && WIFSIGNALED(status)) ++killed;
  }
  printf("%zu killed\n", killed);
  return 0;
}
