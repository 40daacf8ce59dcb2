// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Starts programs in every way but fork+exec: children vfork|spawn|spawnp|system|popen|failed
// TIMES. Prints what came back.

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int Wait(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* how = argv[1];
  char* words[] = {"sh", "-c", "exit 11", NULL};
  char text[64];
  for (int i = 0; i < atoi(argv[2]); ++i) {
    pid_t child = -1;
    if (strcmp(how, "vfork") == 0) {
      child = vfork();
      if (child == 0) {
        execv("/nonexistent/program", words);
        execve("/bin/sh", words, environ);
        _exit(12);
      }
      printf("vfork %d\n", Wait(child));
    } else if (strcmp(how, "spawn") == 0) {
      const int error = posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ);
      printf("spawn %d %d\n", error, Wait(child));
    } else if (strcmp(how, "spawnp") == 0) {
      const int error = posix_spawnp(i % 2 != 0 ? &child : NULL, "sh", NULL, NULL, words, environ);
      printf("spawnp %d %d\n", error, Wait(-1));
    } else if (strcmp(how, "system") == 0) {
      printf("system %d\n", system("exit 13"));
      fflush(stdout);
    } else if (strcmp(how, "popen") == 0) {
      FILE* pipe = popen("echo from the shell; exit 14", "r");
      while (fgets(text, sizeof(text), pipe) != NULL) fputs(text, stdout);
      printf("popen %d\n", pclose(pipe));
    } else {
      child = -77;
      const int error = posix_spawn(&child, "/nonexistent/program", NULL, NULL, words, environ);
      printf("failed %s, pid %s\n", strerror(error), child > 0 ? "changed" : "untouched");
    }
    free(malloc(67890));
  }
  return 0;
}
