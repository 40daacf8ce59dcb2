// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sets SIGUSR1 to its default action by the system call alone, where no hook sees it.

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } action;
  memset(&action, 0, sizeof(action));
  syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8);
  puts("ready");
  fflush(stdout);
  getchar();
  puts("alive");
  return 0;
}
