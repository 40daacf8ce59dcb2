// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hazard: a library that is loaded at run time calls NVTX in its constructor, under the loader's
// lock, which a recorder that is not loaded yet needs too. The program loads it, and then makes
// three ranges of the same name.

#include <nvtx3/nvToolsExt.h>

#ifdef GPUPROF_VICTIM_LIBRARY

__attribute__((constructor)) static void Begin(void) {
  nvtxRangePushA("part");
  nvtxRangePop();
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  char path[4096];
  snprintf(path, sizeof(path), "%s_library.so", argv[0]);
  if (dlopen(path, RTLD_NOW) == NULL) return puts(dlerror()), 1;
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA("part");
    nvtxMarkA("within");
    nvtxRangePop();
    nvtxMarkA("between");
  }
  puts("done");
  return 0;
}

#endif
