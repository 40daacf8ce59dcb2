// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tracer's own heap, behind its hidden operator new and delete: pages mapped for it alone, so
// that a drain in a foreign process neither fills nor waits for the program's allocator, and what
// we use can be counted and bounded. Tool threads only.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// The recorder's whole memory, rings apart, stays below this; drains give up detail long before
// (see kMemoryWish).
inline constexpr uint64_t kMemoryLimit = 64u << 20;
// Beyond this, chunks are written early and tables stop growing.
inline constexpr uint64_t kMemoryWish = 24u << 20;

// Bytes mapped now.
uint64_t MemoryBytes();
// True once the limit was hit: the capture must end.
bool MemoryExhausted();
// In a forked child: no other thread holds the allocator's lock any more.
void MemoryAfterForkChild();

}  // namespace gpuprof::tracer
