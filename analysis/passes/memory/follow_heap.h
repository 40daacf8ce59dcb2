// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The C and C++ heap of one process as blocks with their lifetimes. Every pass that reports the
// heap uses it, so that all estimates are alike. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/model/trace.h"
#include "analysis/passes/memory/live_memory.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

// Points of the timeline.
inline constexpr size_t kHeapPoints = 120;

// Follows the heap, and tells `watcher` of each block. Blocks are grouped by their stack's id.
LiveMemory FollowHeap(const Process& process, BlockWatcher* watcher);

// Lowers a confidence to what so many sampled allocations allow, and says so.
void LimitToSamples(uint64_t samples, results::Confidence* confidence);

}  // namespace gpuprof::analysis
