// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Executes itself by each form of exec in turn, counting down: exec_chain STEP. Each image
// allocates one block of 70000 + STEP bytes (the failed exec before it must leave no mark on the
// program), and the last one prints the arguments it got.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

int main(int argc, char** argv) {
  const int step = argc > 1 ? atoi(argv[1]) : 0;
  free(malloc(70000 + (size_t)step));
  if (execl("/nonexistent/program", "x", "y", (char*)NULL) != -1 || errno != ENOENT) return 90;
  free(malloc(80000 + (size_t)step));
  printf("step %d, %d arguments, mark %s\n", step, argc,
         getenv("MARK") != NULL ? getenv("MARK") : "none");
  fflush(stdout);
  char self[4096], next[16];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
  if (n <= 0) return 91;
  self[n] = 0;
  snprintf(next, sizeof(next), "%d", step - 1);
  char* words[] = {argv[0], next, "vector", NULL};
  static char mark[] = "MARK=set";
  putenv(mark);
  switch (step) {
    case 9:
      execl(self, argv[0], next, "list", "of", "words", (char*)NULL);
      break;
    case 8:
      execlp(self, argv[0], next, (char*)NULL);
      break;
    case 7:
      execle(self, argv[0], next, "with", "environment", (char*)NULL, environ);
      break;
    case 6:
      execv(self, words);
      break;
    case 5:
      execvp(self, words);
      break;
    case 4:
      execve(self, words, environ);
      break;
    case 3:
      execvpe(self, words, environ);
      break;
    case 2:
      fexecve(open(self, O_RDONLY), words, environ);
      break;
    case 1:
      execveat(AT_FDCWD, self, words, environ, 0);
      break;
    default:
      return 31;
  }
  return 92;
}
