// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A library with functions of CUPTI's names that lead to whatever libcupti the process has, as
// frameworks have them which are to start without one. It looks in the whole process, where a
// preloaded function of that name comes first.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

__attribute__((visibility("default"))) int cuptiActivityFlushAll(uint32_t flags) {
  int (*real)(uint32_t) = (int (*)(uint32_t))dlsym(RTLD_DEFAULT, "cuptiActivityFlushAll");
  return real != 0 ? real(flags) : -1;
}

__attribute__((visibility("default"))) int Flush(void) { return cuptiActivityFlushAll(0); }
