// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stack capture with its own cost measured: what application threads spend in it is part of what
// the profiler costs.

#pragma once

#include <cstdint>

#include "proto/ticks.h"

namespace gpuprof::tracer {

// tracer::Api::capture_stack. Every call is counted, one in sixteen is timed.
uint32_t CaptureTimedStack(uint64_t* pcs, uint32_t most, const void* frame);

// The clock that is read, before the first stack is captured.
void StackCostInit(proto::ClockKind clock);
// In a forked child: what was counted is the parent's.
void StackCostAfterForkChild();
uint64_t StackSamples();
// Estimated from the timed calls; 0 before the first.
uint64_t StackNanoseconds(uint64_t ticks_per_second);

}  // namespace gpuprof::tracer
