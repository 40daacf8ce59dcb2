// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stack capture with its own cost measured: what application threads spend in it is part of what
// the profiler costs.

#pragma once

#include <cstdint>

#include "proto/ticks.h"

namespace gpuprof::tracer {

// tracer::Api::capture_stack. Every call is counted, one of each sixteen of a thread is timed,
// which one is left to chance. What took longer than any walk takes stood still, its thread had
// lost the processor: taken for what fifteen others did it would be more than all of them.
uint32_t CaptureTimedStack(uint64_t* pcs, uint32_t most, const void* frame);

// The clock that is read, before the first stack is captured.
void StackCostInit(proto::ClockKind clock, uint64_t ticks_per_second);
// In a forked child: what was counted is the parent's.
void StackCostAfterForkChild();
uint64_t StackSamples();
// Estimated from the timed calls; 0 before the first.
uint64_t StackNanoseconds(uint64_t ticks_per_second);

}  // namespace gpuprof::tracer
