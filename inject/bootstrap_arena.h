// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory for the few allocations made while the real allocator cannot be called. One case is the
// search for it (dlsym may call calloc). The other is a signal handler that makes a thread. A
// static bump arena; blocks are never returned. free() and realloc() must ask Owns() first.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject::bootstrap {

inline constexpr size_t kArenaBytes = 64 * 1024;
extern char arena[kArenaBytes];

// Returns zeroed memory. Null: the arena is used up, and the caller reports an ordinary
// out-of-memory.
void* Allocate(size_t bytes, size_t alignment) noexcept;

inline bool Owns(const void* block) noexcept {
  return reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(arena) < kArenaBytes;
}

// Returns the bytes from `block` to the end of the arena. This is an upper bound of the block's
// size, enough to copy the block out.
inline size_t MostBytes(const void* block) noexcept {
  return kArenaBytes - (reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(arena));
}

}  // namespace gpuprof::inject::bootstrap
