// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Loads and unloads two libraries again and again, so that one comes to lie where the other was,
// while two threads allocate: unload lazy|deepbind TIMES LIBRARY LIBRARY. The libraries
// (unload_library.c) allocate, lock and free in their constructors, functions and destructors.

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int g_stop;
static long g_beside[2];

static void* Beside(void* which) {
  long count = 0;
  while (!g_stop) {
    free(malloc(65001));
    ++count;
    usleep(50);
  }
  g_beside[(size_t)which] = count;
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int flags = strcmp(argv[1], "deepbind") == 0 ? RTLD_NOW | RTLD_DEEPBIND : RTLD_LAZY;
  pthread_t threads[2];
  for (size_t i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, Beside, (void*)i);
  long sum = 0;
  for (int i = 0; i < atoi(argv[2]); ++i) {
    void* library = dlopen(argv[3 + i % 2], flags);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 3;
    }
    char* (*work)(int) = (char* (*)(int))dlsym(library, "Work");
    char* block = work(9);
    sum += block[0];
    // Half of what the library gave out lives on behind it.
    if (i % 4 < 2) {
      dlclose(library);
      free(block);
    } else {
      free(block);
      dlclose(library);
    }
  }
  g_stop = 1;
  for (size_t i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  printf("sum %ld\n", sum);
  fprintf(stderr, "beside %ld\n", g_beside[0] + g_beside[1]);
  return 0;
}
