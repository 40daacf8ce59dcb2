// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Several threads start this program again and again at the same time, while another allocates:
// spawn_storm fork|vfork|spawn THREADS EACH. Each child ("leaf") allocates ten times and ends with
// status 17.

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static char** g_words;  // of the child
static const char* g_how;
static int g_each, g_good, g_stop;

static pid_t Start(void) {
  pid_t child = -1;
  if (strcmp(g_how, "spawn") == 0) {
    return posix_spawn(&child, g_words[0], NULL, NULL, g_words, environ) == 0 ? child : -1;
  }
  child = strcmp(g_how, "vfork") == 0 ? vfork() : fork();
  if (child == 0) {
    execve(g_words[0], g_words, environ);
    _exit(12);
  }
  return child;
}

static void* Work(void* unused) {
  for (int i = 0; i < g_each; ++i) {
    int status = 0;
    const pid_t child = Start();
    if (child < 0 || waitpid(child, &status, 0) != child) exit(3);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 17)
      __atomic_fetch_add(&g_good, 1, __ATOMIC_RELAXED);
  }
  return unused;
}

static void* Allocate(void* unused) {
  while (!__atomic_load_n(&g_stop, __ATOMIC_RELAXED)) {
    free(malloc(62001));
    usleep(200);
  }
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 4) {
    for (int i = 0; i < 10; ++i) free(malloc(62002));
    return 17;
  }
  char* words[] = {argv[0], "leaf", NULL};
  g_words = words;
  g_how = argv[1];
  g_each = atoi(argv[3]);
  const int count = atoi(argv[2]);
  pthread_t threads[16], allocator;
  pthread_create(&allocator, NULL, Allocate, NULL);
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, Work, NULL);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  __atomic_store_n(&g_stop, 1, __ATOMIC_RELAXED);
  pthread_join(allocator, NULL);
  printf("%d children ended as they should\n", g_good);
  return 0;
}
