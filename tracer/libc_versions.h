// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Forced into every file of the tracer object: binds libc symbols that moved into libc.so in
// glibc 2.34 to their oldest versions, so that an object built on a new system loads on glibc 2.28
// (checked by tests/checks).

#pragma once

#if defined(__x86_64__)
#define GPUPROF_BASE_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define GPUPROF_BASE_VERSION "GLIBC_2.17"
#endif

#define GPUPROF_BASE_SYMVER(name) __asm__(".symver " #name "," #name "@" GPUPROF_BASE_VERSION)
GPUPROF_BASE_SYMVER(dlsym);
GPUPROF_BASE_SYMVER(dlopen);
GPUPROF_BASE_SYMVER(dlerror);
GPUPROF_BASE_SYMVER(dladdr);
#if defined(__x86_64__)
__asm__(".symver dladdr1,dladdr1@GLIBC_2.3.3");
#else
GPUPROF_BASE_SYMVER(dladdr1);
#endif
GPUPROF_BASE_SYMVER(pthread_create);
GPUPROF_BASE_SYMVER(pthread_key_create);
GPUPROF_BASE_SYMVER(pthread_setspecific);
GPUPROF_BASE_SYMVER(pthread_attr_setstacksize);
GPUPROF_BASE_SYMVER(pthread_sigmask);
