// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether the CPU's counter can be the recorder's clock, and how fast it runs.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

// Returns whether the counter is invariant by CPUID, trusted by the kernel, and cheap to read. The
// kernel trusts it if its clock source is the TSC or a paravirtual clock over it.
bool TscIsFit() noexcept;

// Returns a rough rate from two readings some time apart (ticks and CLOCK_MONOTONIC nanoseconds).
// The clock snapshots refine it.
uint64_t TicksPerSecond(uint64_t ticks, uint64_t ns) noexcept;

}  // namespace gpuprof::inject
