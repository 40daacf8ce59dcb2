// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A thread that names itself by the bare system call, after it has done something.

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

static void* Work(void* unused) {
  free(malloc(12321));
  prctl(PR_SET_NAME, "behind-backs");
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, Work, NULL);
  pthread_join(thread, NULL);
  return 0;
}
