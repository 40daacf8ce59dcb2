// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds exported symbols of loaded objects by reading their dynamic symbol tables in memory. For
// callbacks from objects outside our lookup scope, where dlsym(RTLD_NEXT) finds nothing and dlopen
// would wait for the loader's lock; and where dlsym must not fail, as it then allocates.

#pragma once

#include <link.h>

#include <cstdint>

namespace gpuprof::inject {

// The symbol `name` defined by the object whose code contains `address`; null: not there. No locks,
// no heap; reads /proc/self/maps once a call, so cache the answer.
void* FindSymbolInObjectOf(const void* address, const char* name) noexcept;

// The symbol `name` that the object with these dynamic entries, loaded at `bias`, defines and
// exports; null: none. No locks, no heap.
void* FindSymbolIn(const ElfW(Dyn) * dynamic, uint64_t bias, const char* name) noexcept;

// Whether this object or one behind it in the loader's list may define `name`. False: dlsym would
// find nothing, and keep its words about that in memory of the program's malloc, which may be
// calling us right now. No locks, no heap; while no other thread loads libraries.
bool MayBeDefinedFrom(const link_map* object, const char* name) noexcept;

// The object behind ours in that list; null: there is none.
const link_map* ObjectBehindOurs() noexcept;

}  // namespace gpuprof::inject
