// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The slots through which loaded objects call each other: their global offset tables, and pointers
// to functions in their data. The loader has filled them before a late arrival comes. A slot that
// calls a function which gpuprof would have interposed is pointed at gpuprof's, and back again.
//
// One thread at a time, gpuprof's own: it waits for the loader's lock. Other threads call through
// the slots meanwhile; each sees the old function or the new one.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

struct SlotCounts {
  uint32_t objects = 0;  // that were looked at
  uint32_t taken = 0;    // slots that call gpuprof's functions now
  uint32_t left = 0;     // slots that call another function of the name
};

// Takes the slots of all objects. Again after objects came: a slot that the loader filled meanwhile
// is taken then. Returns the counts of everything that is taken now.
SlotCounts TakeSlots() noexcept;

// Returns whether objects were loaded or unloaded since the last TakeSlots().
bool ObjectsChanged() noexcept;

// Gives every slot back whose object is still loaded.
void GiveSlotsBack() noexcept;

}  // namespace gpuprof::inject
