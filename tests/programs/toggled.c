// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads at work for a while, whose capture is switched on and off from outside: toggled THREADS.
// Each thread allocates blocks of 25025 bytes, waits for a lock that others hold, and counts. Ends
// at end of file on stdin; a newline makes it print its threads, open descriptors and resident
// memory.

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/all_threads.h"

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int g_stop;
static long g_shared;

static void* Work(void* unused) {
  while (!g_stop) {
    for (int i = 0; i < 20; ++i) {
      void* block = malloc(25025);
      __asm__ volatile("" ::"r"(block) : "memory");
      pthread_mutex_lock(&g_mutex);
      ++g_shared;
      pthread_mutex_unlock(&g_mutex);
      free(block);
    }
    usleep(500);
  }
  return unused;
}

static int Entries(const char* path) {
  DIR* folder = opendir(path);
  int count = -3;  // ".", "..", and the folder's own descriptor
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

static long ResidentPages(void) {
  long size = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%ld %ld", &size, &resident) != 2) resident = -1;
  fclose(file);
  return resident;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 2;
  pthread_t threads[64];
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, Work, NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  setvbuf(stdin, NULL, _IONBF, 0);
  printf("ready\n");
  for (int c; (c = getchar()) != EOF;) {
    if (c == '\n') {
      printf("%d %d %ld\n", AllThreads(NULL, 0), Entries("/proc/self/fd"), ResidentPages() * 4);
    }
  }
  g_stop = 1;
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  return 0;
}
