// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// An ordinary little program: allocates, uses a thread, prints its arguments and user. Built in
// several ways (static, with AddressSanitizer, with foreign allocators) that preloading has to get
// along with.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void* Work(void* unused) {
  for (int i = 0; i < 100; ++i) free(malloc(27027));
  return unused;
}

int main(int argc, char** argv) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, Work, NULL) != 0) return 2;
  pthread_join(thread, NULL);
  printf("%d arguments, %s, user %d of %d\n", argc, argc > 1 ? argv[1] : "-", (int)geteuid(),
         (int)getuid());
  fprintf(stderr, "a word on stderr\n");
  return 5;
}
