// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The originals behind our hooks. Before resolution each entry points at a stub that resolves all
// of them and calls on, so that a hook never has to ask. The loader and other libraries'
// constructors call hooks long before our own constructor runs.

#pragma once

#include "inject/hook_list.h"

namespace gpuprof::inject {

struct RealSymbols {
#define GPUPROF_DECLARE_REAL(result, name, parameters, arguments) result(*name) parameters;
  GPUPROF_HOOKS(GPUPROF_DECLARE_REAL)
  GPUPROF_NEEDED_SYMBOLS(GPUPROF_DECLARE_REAL)
#undef GPUPROF_DECLARE_REAL
};

// A missing original (an old libc) is null after resolution for everything but the heap's core.
extern RealSymbols real;

// Once; later calls return at once. False: the calling thread is inside the resolution right now
// (dlsym allocates).
bool ResolveRealSymbols() noexcept;

// Whether C11's functions are the C library's. A library of the program may have its own by these
// names, whose mutexes are none of libc's: they are called and nothing else. After resolution.
bool C11IsLibcs() noexcept;

// Whether the program's malloc is our hook. It is not where an allocator comes before us: preloaded
// first, or linked into the executable. Hooks for functions that this allocator lacks are reached
// all the same and then work on its heap, which is not recorded. After resolution.
bool HeapIsOurs() noexcept;

// Whether thread sanitizer watches the process. It sees the calls of libc that our threads make,
// but not how these agree with each other, and would call them races of the program's.
bool IsThreadSanitized() noexcept;

}  // namespace gpuprof::inject
