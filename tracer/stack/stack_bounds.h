// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How far up from a frame the running thread's stack may be read without a fault.
//
// Called in hook context on any thread, on ordinary, user-provided, alternative signal and unknown
// (coroutine) stacks. It never allocates, locks, opens a file or calls into libc:
// pthread_getattr_np does all of that.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// Every aligned word in [lo, hi) can be read. lo is the stack pointer asked for: below it nothing
// is live.
struct StackBounds {
  uint64_t lo = 0;
  uint64_t hi = 0;
  bool foreign = false;  // not a stack we know: hi is only the end of lo's page
  bool copied = false;   // a copy of another thread's stack: no memory outside of it may be read

  bool Holds(uint64_t address) const {
    return address >= lo && address < hi && hi - address >= 8 && (address & 7) == 0;
  }
  // False when the word is out of bounds.
  bool Read(uint64_t address, uint64_t* value) const {
    if (__builtin_expect(!Holds(address), 0)) return false;
    *value = *reinterpret_cast<const uint64_t*>(address);  // NOLINT(clang-analyzer-core.*)
    return true;
  }
};

// Bounds of the stack that holds `sp`, which must be readable itself.
StackBounds BoundsOf(uint64_t sp) noexcept;

// Whether the calling thread can push another `bytes` below `sp` without a fault.
bool StackHasRoom(uint64_t sp, uint64_t bytes) noexcept;

// Returns whether the calling thread's stack has `bytes` left. Not in hook context.
bool ThreadHasRoom(uint64_t bytes) noexcept;

}  // namespace gpuprof::tracer
