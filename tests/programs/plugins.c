// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Loads libraries one after another, so that each comes to lie where the one before was, and is
// somewhere else when it unloads them: plugins TIMES LIBRARY... Prints where each had its Work.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/at_rest.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int home = open(".", O_RDONLY | O_DIRECTORY);
  AwaitRecorder();
  for (int i = 0; i < atoi(argv[1]) * (argc - 2); ++i) {
    void* library = dlopen(argv[2 + i % (argc - 2)], RTLD_NOW);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 3;
    }
    void (*work)(void) = (void (*)(void))dlsym(library, "Work");
    work();
    printf("%p\n", (void*)work);
    if (chdir("/") != 0) return 4;
    errno = 77;
    if (dlclose(library) != 0) return 5;
    if (errno != 77) return 6;
    if (fchdir(home) != 0) return 7;
  }
  return 0;
}
