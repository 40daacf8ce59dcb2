// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Must be the only thread of its process, as zygotes and sandboxes: counts its threads by the links
// of their folder, and moves into a user namespace, which the system refuses to a process with
// more. Its child does the same. alone [MILLISECONDS]: how long it works before.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void Work(long milliseconds) {
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += milliseconds / 1000;
  end.tv_nsec += milliseconds % 1000 * 1000000;
  do {
    free(malloc(100));
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static void BeAlone(const char* who) {
  const int proc = open("/proc", O_RDONLY | O_DIRECTORY);
  struct stat status;
  const int result = fstatat(proc, "self/task/", &status, 0);
  printf("%s: %d, %ld threads\n", who, result, (long)status.st_nlink - 2);
  close(proc);
  if (unshare(CLONE_NEWUSER) == 0 || errno == EPERM || errno == ENOSPC || errno == ENOSYS)
    printf("%s: alone\n", who);
  else
    printf("%s: %s\n", who, strerror(errno));
  fflush(stdout);
}

int main(int argc, char** argv) {
  const long milliseconds = argc > 1 ? atol(argv[1]) : 50;
  Work(milliseconds);
  BeAlone("parent");
  const pid_t child = fork();
  if (child == 0) {
    Work(milliseconds);
    BeAlone("child");
    return 3;
  }
  int status = 0;
  waitpid(child, &status, 0);
  Work(milliseconds);
  printf("child ended with %d\n", WEXITSTATUS(status));
  return 0;
}
