// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which loaded object holds an address, and where its unwind tables are.
//
// FindCode runs in hook context and takes no lock: the loader's own list may be locked by a thread
// that is blocked, or by this very one inside dlopen. The rest runs on the control thread.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

struct CodeObject {
  uint64_t lo = 0;  // all segments of the object lie in [lo, hi)
  uint64_t hi = 0;
  uint64_t eh_frame_hdr = 0;  // PT_GNU_EH_FRAME in memory; 0: none
};

// Reads the list of modules; the first call also finds our own objects. May wait for the loader's
// lock.
void ModulesRefresh();
// Whether objects came or went since the last refresh, and whether any went.
struct ModulesDelta {
  bool came;
  bool went;
};
ModulesDelta ModulesSince();

bool FindCode(uint64_t address, CodeObject* object) noexcept;

// Whether the address is inside the injected or the tracer object.
bool IsOwnCode(uint64_t address) noexcept;

// For tests: use only the list kept here, as on a C library without _dl_find_object.
void ModulesUseOwnList(bool only);

}  // namespace gpuprof::tracer
