// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A server that gives up its privileges: libc changes the ids of every thread of the process, and
// waits for each. In the first process, in forked children at once and after a moment, in a
// grandchild, and beside threads of its own.

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static int g_root;

static void Change(const char* where) {
  const gid_t group = getgid();
  const int groups = g_root ? setgroups(1, &group) : 0;
  const int ids = setgid(group) | setegid(group) | setregid(group, group) | setuid(getuid()) |
                  seteuid(getuid()) | setresuid(getuid(), getuid(), getuid());
  printf("%s: groups %d, ids %d\n", where, groups, ids);
  fflush(stdout);
}

static void InChild(const char* where, int wait_ms, int deeper) {
  const pid_t child = fork();
  if (child == 0) {
    usleep(wait_ms * 1000);
    Change(where);
    if (deeper) InChild("grandchild", wait_ms, 0);
    if (g_root) {  // and for good, as servers do
      printf("to nobody: %d", setgid(65534) | setuid(65534));
      printf(", and back: %d\n", setuid(0));
    }
    fflush(stdout);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s ended: %d\n", where, WEXITSTATUS(status));
  fflush(stdout);
}

static void* Rest(void* stop) {
  while (!__atomic_load_n((int*)stop, __ATOMIC_ACQUIRE)) usleep(500);
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  int stop = 0;
  g_root = getuid() == 0;
  Change("before any thread");
  InChild("child at once", 0, 1);
  InChild("child later", 150, 1);
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, Rest, &stop);
  Change("beside threads");
  InChild("child of threads", 20, 1);
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return 0;
}
