// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What accounts of memory are made of (analysis/derived/memory_account.h), for the pass
// `memory_profile`: of snapshots and of recorded allocations. One thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/derived/memory_account.h"
#include "analysis/model/memory_snapshot.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// One device's memory.
struct DeviceMemoryInput {
  std::string device;  // "cuda:0"
  uint32_t number = 0;
  MemoryInput input;
  std::function<std::string(uint32_t owner)> name;  // of an owner; "": not known
  uint64_t reported_peak = 0;                       // by the allocator itself; 0: not known
};

// Returns the inputs of a snapshot's devices that have events or segments. The snapshot outlives
// them.
std::vector<DeviceMemoryInput> InputsOfSnapshot(const MemorySnapshot& snapshot);

// Returns the inputs of the recorded allocations of a process. The context outlives them.
std::vector<DeviceMemoryInput> InputsOfRecording(PassContext& context, size_t index);

// Returns the names of the ranges of a snapshot that were open, outermost first: "a / b".
std::string RangesOpenAt(const MemorySnapshot& snapshot, size_t device, int64_t time_ns);

}  // namespace gpuprof::analysis
