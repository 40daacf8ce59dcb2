// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// argv[1]: one letter for each thing to do, in order, on the main thread:
//   s x   cudaProfilerStart, cudaProfilerStop      S X   cuProfilerStart, cuProfilerStop
//   a     allocates 10000 bytes, and one more each time
//   f     forks a child, which allocates and ends; waits for it
//   t     has a thread do what follows to the end, and waits for it
// Prints what the functions returned.

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int cudaProfilerStart(void);
int cudaProfilerStop(void);
int cuProfilerStart(void);
int cuProfilerStop(void);

static size_t bytes = 10000;

static void allocate(void) {
  void* volatile block = malloc(bytes++);
  free(block);
}

static void told(int result) {
  if (errno != 33) printf("errno %d ", errno);
  printf("%d ", result);
}

static void* run(void* argument) {
  for (const char* what = argument; *what != 0; ++what) {
    errno = 33;
    if (*what == 's') told(cudaProfilerStart());
    if (*what == 'x') told(cudaProfilerStop());
    if (*what == 'S') told(cuProfilerStart());
    if (*what == 'X') told(cuProfilerStop());
    if (*what == 'a') allocate();
    if (*what == 'f') {
      const pid_t child = fork();
      if (child == 0) {
        allocate();
        _exit(0);
      }
      waitpid(child, NULL, 0);
    }
    if (*what == 't') {
      pthread_t thread;
      pthread_create(&thread, NULL, run, (void*)(what + 1));
      pthread_join(thread, NULL);
      return NULL;
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  run(argc > 1 ? argv[1] : "");
  printf("\n");
  return 0;
}
