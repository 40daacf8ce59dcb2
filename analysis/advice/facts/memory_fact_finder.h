// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds what rules about memory and clocks look at. For the pass `advise`; one thread.

#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/advice/facts/memory_facts.h"
#include "analysis/passes/context.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

// Fills the facts about the memory of a device, by the number that the process uses for it.
void FillMemoryFacts(PassContext& context, size_t index, uint32_t device, MemoryFacts* facts);
// Fills the facts about the clocks within the steps of a device.
void FillClockFacts(PassContext& context, size_t index, const results::DeviceSeries& series,
                    ClockFacts* facts);

}  // namespace gpuprof::analysis
