// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Forced into every file of the inject object. Binds the few libc symbols that the object calls to
// their oldest versions. So an object built on a new system loads on glibc 2.28 (checked by
// tests/checks). aarch64's base version is 2.17.

#pragma once

#if defined(__x86_64__)
#define GPUPROF_SYMVER(name, version) __asm__(".symver " #name "," #name "@" version)
GPUPROF_SYMVER(dlsym, "GLIBC_2.2.5");
GPUPROF_SYMVER(dlvsym, "GLIBC_2.2.5");
GPUPROF_SYMVER(dlopen, "GLIBC_2.2.5");
GPUPROF_SYMVER(dlerror, "GLIBC_2.2.5");
GPUPROF_SYMVER(dladdr, "GLIBC_2.2.5");
GPUPROF_SYMVER(dladdr1, "GLIBC_2.3.3");
#elif defined(__aarch64__)
#define GPUPROF_SYMVER(name, version) __asm__(".symver " #name "," #name "@" version)
GPUPROF_SYMVER(dlsym, "GLIBC_2.17");
GPUPROF_SYMVER(dlvsym, "GLIBC_2.17");
GPUPROF_SYMVER(dlopen, "GLIBC_2.17");
GPUPROF_SYMVER(dlerror, "GLIBC_2.17");
GPUPROF_SYMVER(dladdr, "GLIBC_2.17");
GPUPROF_SYMVER(dladdr1, "GLIBC_2.17");
#endif
