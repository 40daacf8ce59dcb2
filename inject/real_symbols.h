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

// Resolves all originals, once; later calls return at once. False: the calling thread is inside the
// resolution right now (dlsym allocates).
bool ResolveRealSymbols() noexcept;

// Resolves all originals once more, for a process that was attached to: what its calls reach, not
// what comes behind gpuprof's object. The program's heap counts as gpuprof's from here on. Before
// any slot is taken (inject/attach/slots.h). May wait for the loader's lock.
void ResolveInProgram() noexcept;

// Returns the original of a function that gpuprof interposes; null: gpuprof interposes no function
// of this name. After resolution.
void* RealFunction(const char* name) noexcept;

// Returns whether C11's functions are the C library's. A library of the program may have its own
// functions by these names. Their mutexes are not libc's, so the hooks only call on. After
// resolution.
bool C11IsLibcs() noexcept;

// Returns whether the program's malloc is gpuprof's hook. False: another allocator comes first,
// preloaded or linked into the executable. Hooks of functions that this allocator lacks are still
// reached. They then work on its heap, which is not recorded. After resolution.
bool HeapIsOurs() noexcept;

// Returns whether a sanitizer watches each thread or each address of the process. Thread sanitizer
// sees the libc calls of gpuprof's threads, but not how these calls agree with each other. So it
// would report them as races of the program.
bool IsSanitized() noexcept;

}  // namespace gpuprof::inject
