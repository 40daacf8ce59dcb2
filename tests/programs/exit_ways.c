// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Leaves in the way named: exit_ways WAY. Before that 1000 blocks of 12345 bytes are allocated and
// freed, and text waits in stdout's buffer: whether it comes out is part of each way's behaviour.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void AtExit(void) { printf("atexit\n"); }
static void AtQuickExit(void) {
  printf("at_quick_exit\n");
  fflush(stdout);
}
static void ExitInHandler(int number) { _exit(40 + (number == SIGTERM)); }
static void* ExitInThread(void* unused) {
  (void)unused;
  exit(23);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "return";
  atexit(AtExit);
  at_quick_exit(AtQuickExit);
  for (int i = 0; i < 1000; ++i) {
    char* block = malloc(12345);
    block[0] = block[12344] = (char)i;
    __asm__ volatile("" ::"r"(block) : "memory");
    free(block);
  }
  printf("leaving by %s\n", way);
  if (strcmp(way, "exit") == 0) exit(3);
  if (strcmp(way, "_exit") == 0) _exit(4);
  if (strcmp(way, "_Exit") == 0) _Exit(5);
  if (strcmp(way, "quick_exit") == 0) quick_exit(6);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "SIGTERM") == 0) raise(SIGTERM);
  if (strcmp(way, "SIGKILL") == 0) raise(SIGKILL);
  if (strcmp(way, "SIGINT") == 0) raise(SIGINT);
  if (strcmp(way, "SIGSEGV") == 0) *(volatile int*)(size_t)8 = 1;
  if (strcmp(way, "SIGFPE") == 0) raise(SIGFPE);
  if (strcmp(way, "handler") == 0) {
    signal(SIGTERM, ExitInHandler);
    raise(SIGTERM);
  }
  if (strcmp(way, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, ExitInThread, NULL);
    pthread_join(thread, NULL);
  }
  if (strcmp(way, "pthread_exit") == 0) pthread_exit(NULL);
  return 7;
}
