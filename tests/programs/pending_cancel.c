// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A thread with a cancellation pending does what is no cancellation point: pending_cancel
// _exit|quick_exit|exec|fork|allocate. Bare, it is never cancelled there.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* g_how;
static char* g_self;
static int g_cancelled_late;
static volatile int g_ready, g_asked;

static void* Work(void* unused) {
  for (int i = 0; i < 1000; ++i) free(malloc(64001));
  g_ready = 1;
  while (!g_asked) __asm__ volatile("");
  // From here on the cancellation is pending.
  for (int i = 0; i < 1000; ++i) free(malloc(64002));
  if (strcmp(g_how, "_exit") == 0) _exit(31);
  if (strcmp(g_how, "quick_exit") == 0) quick_exit(32);
  if (strcmp(g_how, "exec") == 0) execl(g_self, g_self, "leaf", (char*)NULL);
  if (strcmp(g_how, "fork") == 0) {
    for (int i = 0; i < 20; ++i) {
      if (fork() == 0) _exit(0);
    }
  }
  g_cancelled_late = 1;
  pthread_testcancel();
  g_cancelled_late = 2;
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (strcmp(argv[1], "leaf") == 0) return 33;
  g_how = argv[1];
  g_self = argv[0];
  pthread_t thread;
  pthread_create(&thread, NULL, Work, NULL);
  while (!g_ready) usleep(100);
  usleep(30000);
  pthread_cancel(thread);
  g_asked = 1;
  void* result = NULL;
  pthread_join(thread, &result);
  int children = 0;
  while (wait(NULL) > 0) ++children;
  printf("cancelled %d, at the right place %d, children %d\n", result == PTHREAD_CANCELED,
         g_cancelled_late == 1, children);
  return 0;
}
