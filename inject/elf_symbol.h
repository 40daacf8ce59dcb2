// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds exported symbols of loaded objects by reading their dynamic symbol tables in memory. Two
// callers need this. Callbacks from objects outside gpuprof's lookup scope cannot use
// dlsym(RTLD_NEXT), which finds nothing, nor dlopen, which would wait for the loader's lock. Others
// must avoid a dlsym that fails, because it then allocates.

#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject {

// Returns the symbol `name` defined by the object whose code contains `address`; null: not there.
// No locks, no heap; reads /proc/self/maps once a call, so cache the answer.
void* FindSymbolInObjectOf(const void* address, const char* name) noexcept;

// Returns the symbol `name` that the object with these dynamic entries, loaded at `bias`, defines
// and exports. Null: the object has no symbol of this name. No locks, no heap.
void* FindSymbolIn(const ElfW(Dyn) * dynamic, uint64_t bias, const char* name) noexcept;

// Returns whether this object or one behind it in the loader's list may define `name`. False: dlsym
// would find nothing. It would then store its error text with the program's malloc, which may be
// calling gpuprof right now. No locks, no heap; while no other thread loads libraries.
bool MayBeDefinedFrom(const link_map* object, const char* name) noexcept;

struct DefinedData {
  uint64_t address = 0;
  uint64_t bytes = 0;  // 0: no object defines it
};
// Returns the data `name` of the first object in the loader's list that defines it. No locks, no
// heap; while no other thread loads libraries.
DefinedData FindData(const char* name) noexcept;

// Calls `work` while no thread can load or unload a library. It must not call the loader, nor wait
// for anything. For a late arrival, where other threads of the program may be at it.
template <typename Work>
void WhileLoaderRests(Work work) noexcept {
  // The loader's list is locked around the callback.
  dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* opaque) {
        (*static_cast<Work*>(opaque))();
        return 1;
      },
      &work);
}

// Returns where this object was loaded. While no other thread loads libraries.
uintptr_t OwnBias() noexcept;

// Returns the object behind gpuprof's in the loader's list; null: gpuprof's is the last object.
const link_map* ObjectBehindOurs() noexcept;

}  // namespace gpuprof::inject
