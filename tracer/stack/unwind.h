// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stack walk by unwind rules: right with and without frame pointers, across signal frames, some
// nanoseconds a frame.
//
// Hook context, any thread; see stack_capture.h for what it never does. The fork functions are
// called around fork.

#pragma once

#include <cstdint>

#include "tracer/stack/fp_walk.h"
#include "tracer/stack/stack_bounds.h"
#include "tracer/stack/stack_capture.h"

namespace gpuprof::tracer {

// Control thread, once.
void UnwindInit();

// Stores at most `most` return addresses, without those in our own code. Returns how many.
uint32_t WalkRules(WalkStart at, StackBounds bounds, uint64_t* pcs, uint32_t most) noexcept;

// Walks from where a thread was interrupted: start.ip is no return address. For copies of stacks
// (StackBounds::copied). A tool thread.
uint32_t WalkInterrupted(WalkStart start, StackBounds bounds, uint64_t* pcs,
                         uint32_t most) noexcept;

// Control thread: an unloaded object's addresses may soon mean other code.
void UnwindForgetRules();

void UnwindBeforeFork();
void UnwindAfterForkParent();
void UnwindAfterForkChild();

// Counters of lossy single adds: cheap, and for statistics only.
extern StackCounters stack_counters;
inline void CountUp(uint64_t* counter) noexcept {
  __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

}  // namespace gpuprof::tracer
