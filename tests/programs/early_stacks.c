// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Allocates before main, first thing in main and first thing in a forked child: 1001, 1002 and 1003
// bytes, each from a function of its own.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile g_kept[3];

__attribute__((constructor, noinline)) static void BeforeMain(void) { g_kept[0] = malloc(1001); }

__attribute__((noinline)) static void FirstInMain(void) { g_kept[1] = malloc(1002); }

__attribute__((noinline)) static void FirstInChild(void) { g_kept[2] = malloc(1003); }

int main(void) {
  FirstInMain();
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    FirstInChild();
    return g_kept[2] == NULL;
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 1;
  return g_kept[0] == NULL || g_kept[1] == NULL || status != 0;
}
