// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Loads a library into a link-map namespace of its own, where another C library comes with it.

#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  void* handle = dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  double (*root)(double) = (double (*)(double))dlsym(handle, "sqrt");
  if (root == NULL) return 2;
  printf("%g\n", root(49));
  return dlclose(handle);
}
