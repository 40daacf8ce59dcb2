// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The two clocks of the simulation: the device's own (CLOCK_MONOTONIC) and the one that CUPTI tells
// (CLOCK_REALTIME, with the scripted step, and for the device's times the scripted drift).

#pragma once

#include <cstdint>

namespace fake_gpu {

// The device's clock, in nanoseconds.
uint64_t Monotonic();

// What cuptiGetTimestamp and the records of calls say now.
uint64_t ToolTime();

// The device's time as CUPTI's post-processing would convert it.
uint64_t ToolTimeOf(uint64_t monotonic);

// Returns when the device's clock has reached the time: spins when it is near, sleeps when it is
// far.
void WaitUntil(uint64_t monotonic);

}  // namespace fake_gpu
