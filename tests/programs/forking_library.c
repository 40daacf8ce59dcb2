// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A library that forks while it is initialised: the parent waits and ends as the child does, which
// goes on to the program.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile g_block;

__attribute__((constructor)) static void Begin(void) {
  g_block = malloc(54323);
  const pid_t child = fork();
  if (child == 0) return;
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

__attribute__((visibility("default"))) void Touch(void) { free(g_block); }
