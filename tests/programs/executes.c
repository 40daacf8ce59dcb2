// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Executes a program in every way, one after the other, and prints how it ended: executes PROGRAM.

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static const char* kWays[] = {"execve", "execv",  "execvp", "execvpe", "execl",
                              "execlp", "execle", "vfork",  "spawn",   "spawnp"};
enum { kCount = sizeof(kWays) / sizeof(kWays[0]) };

static void Execute(int way, char* path) {
  char* argv[] = {path, NULL};
  switch (way) {
    case 0:
    case 7:
      execve(path, argv, environ);
      break;
    case 1:
      execv(path, argv);
      break;
    case 2:
      execvp(path, argv);
      break;
    case 3:
      execvpe(path, argv, environ);
      break;
    case 4:
      execl(path, path, (char*)NULL);
      break;
    case 5:
      execlp(path, path, (char*)NULL);
      break;
    default:
      execle(path, path, (char*)NULL, environ);
      break;
  }
  _exit(127);
}

int main(int argc, char** argv) {
  (void)argc;
  for (int way = 0; way < kCount; ++way) {
    pid_t child = 0;
    char* arguments[] = {argv[1], NULL};
    printf("%s: ", kWays[way]);
    fflush(stdout);
    if (way == 8) {
      posix_spawn(&child, argv[1], NULL, NULL, arguments, environ);
    } else if (way == 9) {
      posix_spawnp(&child, argv[1], NULL, NULL, arguments, environ);
    } else {
      child = way == 7 ? vfork() : fork();
      if (child == 0) Execute(way, argv[1]);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    fflush(stdout);
  }
  return 0;
}
