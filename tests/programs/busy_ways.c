// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Does one thing without end, until end of file on stdin: busy_ways
// heap|threads|loader|sleep|poll|join|compute|blocks. A helper thread waits for the end of file,
// and takes no signals. Prints the number of threads of the process before and after.

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/all_threads.h"

static volatile int g_is_over;
static pthread_t g_helper;

static int Threads(void) { return AllThreads(NULL, 0); }

static void* AwaitEnd(void* unused) {
  char c;
  while (read(0, &c, 1) == 1) {}
  g_is_over = 1;
  return unused;
}

static void* Nothing(void* unused) { return unused; }

static void Heap(void) {
  enum { kBlocks = 64 };
  static void* blocks[kBlocks];
  static unsigned turn;
  void** block = &blocks[turn++ % kBlocks];
  free(*block);
  *block = malloc(16 + turn % 5000);
}

static void Thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, Nothing, NULL) == 0) pthread_join(thread, NULL);
}

static void Loader(void) {
  void* library = dlopen("libm.so.6", RTLD_NOW);
  if (library != NULL) dlclose(library);
}

static void Compute(void) {
  for (volatile int i = 0; i < 100000; ++i) {}
}

// Takes signals for 10 ms of each 60 ms.
static void Block(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  usleep(50000);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  usleep(10000);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "compute";
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_create(&g_helper, NULL, AwaitEnd, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  printf("%d threads\n", Threads());
  fflush(stdout);
  if (strcmp(how, "join") == 0) pthread_join(g_helper, NULL);
  while (!g_is_over) {
    if (strcmp(how, "heap") == 0) Heap();
    if (strcmp(how, "threads") == 0) Thread();
    if (strcmp(how, "loader") == 0) Loader();
    if (strcmp(how, "sleep") == 0) usleep(100000);
    if (strcmp(how, "poll") == 0) poll(NULL, 0, 100);
    if (strcmp(how, "compute") == 0) Compute();
    if (strcmp(how, "blocks") == 0) Block();
  }
  printf("the end\n");
  return 0;
}
