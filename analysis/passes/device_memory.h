// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Parts of the pass device_memory that are files of their own: pools (memory_pools.cc), what is on
// a device, what was live at the end. One process each; the rows are appended.

#pragma once

#include <string>

#include "analysis/passes/context.h"
#include "analysis/passes/memory/follow_device_memory.h"
#include "proto/results/device_memory.pb.h"

namespace gpuprof::analysis {

// Returns "device", "managed", "pinned" ... with " pool" after it if the block came from a pool.
std::string DeviceMemoryKind(const DeviceBlock& block);

// Returns the name of a pool: its address.
std::string PoolName(uint64_t address);

void AddMemoryDevices(const Process& process, const DeviceMemoryHistory& history,
                      results::DeviceMemory* out);
void AddMemoryPools(const Process& process, const DeviceMemoryHistory& history,
                    results::DeviceMemory* out);
// Adds the live blocks, and the blocks that were released with their context.
void AddLiveAllocations(PassContext& context, size_t index, const DeviceMemoryHistory& history,
                        const CallIndex& calls, results::DeviceMemory* out);

}  // namespace gpuprof::analysis
