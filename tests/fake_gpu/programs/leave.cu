// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Launches a kernel that the script makes long, and leaves: leave return|_exit|kill|fork|wait|line
// (line: says so, and returns at the end of a line on stdin);
// leave busy forks a child that soon leaves, amid many launches of the short one.

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

__global__ void Long() {}
__global__ void Short() {}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "return";
  Short<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize());
  if (strcmp(way, "busy") == 0) {
    for (int i = 0; i < 300000; ++i) Short<<<1, 32>>>();
    const pid_t child = fork();
    if (child == 0) {
      void* volatile memory = malloc(77);  // its recorder has something to do
      usleep(300000);
      free(memory);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    return 0;
  }
  Long<<<1, 32>>>();
  CHECK(cudaGetLastError());
  if (strcmp(way, "_exit") == 0) _exit(5);
  if (strcmp(way, "kill") == 0) raise(SIGKILL);
  if (strcmp(way, "wait") == 0) usleep(300000);
  if (strcmp(way, "line") == 0) {
    puts("launched");
    fflush(stdout);
    while (getchar() != '\n') {}
  }
  if (strcmp(way, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      const cudaError_t result = cudaDeviceSynchronize();
      _exit(result == cudaSuccess ? 0 : 6);
    }
    int status = 0;
    for (int i = 0; i < 20 && waitpid(child, &status, WNOHANG) == 0; ++i) usleep(20000);
    if (waitpid(child, &status, WNOHANG) == 0) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
    }
    printf("child %s %d\n", WIFEXITED(status) ? "left" : "blocked",
           WIFEXITED(status) ? WEXITSTATUS(status) : 0);
  }
  return 0;
}
