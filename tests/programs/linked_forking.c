// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Linked with forking_library.c: runs in a child of the process that was started. Tells what the
// signal that starts and ends recording does, and is asked by it.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void Touch(void);

static volatile sig_atomic_t g_answers;
static void* volatile g_block;

static void Answer(int number) { g_answers += number == SIGUSR1; }

int main(void) {
  Touch();
  struct sigaction action;
  sigaction(SIGUSR1, NULL, &action);
  printf("%s\n", action.sa_handler == SIG_DFL ? "default" : "not the default");
  signal(SIGUSR1, Answer);
  for (int i = 0; i < 500; ++i) free(g_block = malloc(54324));
  raise(SIGUSR1);
  usleep(300000);
  printf("%d answers\n", (int)g_answers);
  return 3;
}
