// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Chooses which allocations are recorded in sampled mode, and finds the frees that belong to them.
//
// Every byte allocated is equally likely to be a sample point: distances between points are
// exponential with mean `heap_period`. So an allocation of s bytes is recorded with probability 1 -
// exp(-s / period), independent of earlier allocations. The reader weighs the allocation by the
// inverse. A table of live sampled addresses tells which frees to record; a small filter in front
// answers most frees with one byte. Hook context: no locks, no heap; the table is mapped when a
// capture starts.

#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/state.h"

namespace gpuprof::inject {

// Returns whether an allocation of `bytes` may be a sample; usually one subtraction. If so, nothing
// is counted yet: the call may still fail, and a failed call allocates nothing.
inline bool SampleDue(size_t bytes) noexcept {
  ThreadState& thread = t_thread;
  if (__builtin_expect(bytes > thread.bytes_until_sample, 0)) return true;
  thread.bytes_until_sample -= bytes;
  return false;
}

// Returns whether this allocation really is a sample (a thread's first call only draws its first
// distance). Call it after SampleDue and an allocation that did not fail.
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
// Forgets a block. False: the block was not sampled.
bool ForgetSampled(const void* block) noexcept;

// Maps the table the first time, and empties it. Control thread, at the start of a capture, while
// hooks are off.
bool ResetSampled() noexcept;

}  // namespace gpuprof::inject
