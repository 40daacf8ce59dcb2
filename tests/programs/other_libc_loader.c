// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stands in for the loader of another C library, which runs no program: prints what it gets of two
// variables and ends with 5. Without libc.

#include <sys/syscall.h>

#include "tests/programs/raw_call.h"

#if defined(__x86_64__)
asm(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call Start\n");
#else
asm(".globl _start\n_start: mov x0, sp\n bl Start\n");
#endif

static void Print(const char* text) {
  long length = 0;
  while (text[length] != 0) ++length;
  RawCall(SYS_write, 1, (long)text, length);
}

static const char* Value(char** environment, const char* name) {
  for (; *environment != 0; ++environment) {
    long i = 0;
    while (name[i] != 0 && (*environment)[i] == name[i]) ++i;
    if (name[i] == 0 && (*environment)[i] == '=') return *environment + i + 1;
  }
  return "(unset)";
}

void Start(long* stack) {
  char** environment = (char**)stack + stack[0] + 2;
  Print("LD_PRELOAD ");
  Print(Value(environment, "LD_PRELOAD"));
  Print(", CUDA_INJECTION64_PATH ");
  Print(Value(environment, "CUDA_INJECTION64_PATH"));
  Print("\n");
  RawCall(SYS_exit_group, 5, 0, 0);
}
