// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A system call that no hook sees: for victims that stand in for a fault of the system. The
// arguments behind the third are 0.

#pragma once

static long RawCall(long number, long a, long b, long c) {
#if defined(__x86_64__)
  long result;
  register long d asm("r10") = 0;
  register long e asm("r8") = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e)
               : "rcx", "r11", "memory");
  return result;
#else
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = 0;
  register long x4 asm("x4") = 0;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
#endif
}
