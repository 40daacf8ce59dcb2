// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which allocations are recorded in sampled mode, and which frees belong to them.
//
// Every byte allocated is equally likely to be a sample point: distances between points are
// exponential with mean `heap_period`, so an allocation of s bytes is recorded with probability 1 -
// exp(-s / period), whatever came before. The reader weighs it by the inverse. A table of live
// sampled addresses tells which frees to record; a small filter in front answers most frees with
// one byte. Hook context: no locks, no heap; the table is mapped when a capture starts.

#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/state.h"

namespace gpuprof::inject {

// One subtraction on the common path. When due nothing is counted yet: the call may fail, however
// much it asks for, and what failed is no allocation.
inline bool SampleDue(size_t bytes) noexcept {
  ThreadState& thread = t_thread;
  if (__builtin_expect(bytes > thread.bytes_until_sample, 0)) return true;
  thread.bytes_until_sample -= bytes;
  return false;
}

// After SampleDue and a call that did not fail: whether this allocation really is a sample (a
// thread's first call only draws its first distance).
bool TakeSample(size_t bytes) noexcept;

inline uint32_t FilterBucket(const void* block) noexcept {
  // Blocks are 16-byte aligned; multiply so that neighbours spread.
  const uint64_t hash = (reinterpret_cast<uint64_t>(block) >> 4) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(hash >> 50);  // 14 bits
}
static_assert(kFilterBuckets == 1u << 14);

inline bool MayBeSampled(const void* block) noexcept {
  return __builtin_expect(
      g_process.filter[FilterBucket(block)].load(std::memory_order_relaxed) != 0, 0);
}

// Remembers a sampled block. False: the table is full, and the sample must not be recorded (its
// free would be missed); counted.
bool RememberSampled(const void* block) noexcept;
// Forgets it. False: it was not sampled.
bool ForgetSampled(const void* block) noexcept;

// Control thread, at the start of a capture, while hooks are off: maps the table the first time and
// empties it.
bool ResetSampled() noexcept;

}  // namespace gpuprof::inject
