// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A server that root starts: it forks a worker, and both become another user at once, as the
// arguments say: drops_user setuid|setreuid|setresuid|seteuid. Then each makes 1,000 blocks of
// 4,321 bytes.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kNobody = 65534 };

static int Drop(const char* how) {
  if (strcmp(how, "setuid") == 0) return setuid(kNobody);
  if (strcmp(how, "setreuid") == 0) return setreuid(kNobody, kNobody);
  if (strcmp(how, "setresuid") == 0) return setresuid(kNobody, kNobody, kNobody);
  return seteuid(kNobody);
}

static int Serve(const char* how) {
  if (Drop(how) != 0) return 1;
  for (int i = 0; i < 1000; ++i) {
    void* block = malloc(4321);
    __asm__ volatile("" ::"r"(block) : "memory");
    free(block);
  }
  usleep(200000);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const pid_t worker = fork();
  if (worker == 0) return Serve(argv[1]);
  const int status = Serve(argv[1]);
  int ended = 0;
  waitpid(worker, &ended, 0);
  printf("%d %d\n", status, ended);
  return 0;
}
