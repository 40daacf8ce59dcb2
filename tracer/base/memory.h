// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tracer's own heap, behind its hidden operator new and delete: pages mapped for it alone, so
// that a drain in a foreign process neither fills nor waits for the program's allocator, and what
// we use can be counted and bounded. Tool threads only.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// Control thread, before a capture: the recorder's whole memory, rings apart, stays below `limit`.
// A limit hit in an earlier capture is forgotten if there is room again.
void MemorySetLimit(uint64_t limit);

// True beyond three eighths of the limit: chunks are written early and their memory is given back.
bool MemoryIsShort();
// Bytes mapped now.
uint64_t MemoryBytes();
// True once the limit was hit in this capture: it must end.
bool MemoryExhausted();
// True once a tool thread found no memory and went to sleep for good: nobody need wait for it.
bool MemoryHasParked();
// For a thread of the program's, which must not be put to sleep: what it needs is served beyond the
// limit, and where there is no memory at all the work is left half done. False then.
bool MemoryRunOrLeave(void (*work)());
// In a forked child: no other thread holds the allocator's lock any more.
void MemoryAfterForkChild();

}  // namespace gpuprof::tracer
