// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory that the hooks of malloc give out in place of the real allocator, from static arrays.
// free() and realloc() must ask Owns() first.
//
// The first array serves the few allocations made while the real allocator cannot be called. One
// case is the search for it (dlsym may call calloc). The other is a signal handler that makes a
// thread. Its blocks are never returned.
//
// The second array serves gpuprof's threads. glibc would make each of them a heap of its own, and
// would reserve 64 MiB of addresses for each heap. A program that limits its addresses would miss
// them.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject::bootstrap {

inline constexpr size_t kArenaBytes = 64 * 1024;
inline constexpr size_t kToolBytes = 256 * 1024;
inline constexpr size_t kAllBytes = kArenaBytes + kToolBytes;
extern char arena[kAllBytes];

// Returns zeroed memory. Null: the arena is used up, and the caller reports an ordinary
// out-of-memory.
void* Allocate(size_t bytes, size_t alignment) noexcept;

// Returns memory for a thread of gpuprof. Null: the array is full or not used, and the real
// allocator must serve the thread. Threads of gpuprof.
void* AllocateForTool(size_t bytes) noexcept;

// Leaves threads of gpuprof to the real allocator from now on. When the hooks are taken out, the
// program itself frees what its libraries allocated on these threads. Any thread.
void UseNoneForTools() noexcept;

inline bool Owns(const void* block) noexcept {
  return reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(arena) < kAllBytes;
}

// Takes a block back that Owns() knows. Any thread.
void Free(void* block) noexcept;

// Frees the lock in a forked child: a thread that held it is not there.
void AfterForkInChild() noexcept;

// Returns an upper bound of the block's size, enough to copy the block out.
size_t MostBytes(const void* block) noexcept;

}  // namespace gpuprof::inject::bootstrap
