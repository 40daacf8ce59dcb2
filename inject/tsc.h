// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether the CPU's counter can be the recorder's clock, and how fast it runs.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

// Invariant by CPUID, trusted by the kernel (its clock source is the TSC or a paravirtual clock
// over it), and cheap to read.
bool TscIsFit() noexcept;

// A rough rate from two readings some time apart (ticks and CLOCK_MONOTONIC nanoseconds); the clock
// snapshots refine it.
uint64_t TicksPerSecond(uint64_t ticks, uint64_t ns) noexcept;

}  // namespace gpuprof::inject
