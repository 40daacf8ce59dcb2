// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What accounts of memory are made of (analysis/derived/memory_account.h), for the pass
// `memory_profile`: snapshots, recorded allocations, and allocators of TensorFlow and JAX. One
// thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/derived/memory_account.h"
#include "analysis/model/memory_snapshot.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// Who allocated. Empty: not known.
struct MemoryPlace {
  std::string name;
  std::string shape, data_type, region;  // TensorFlow and JAX tell these
};

// One device's memory.
struct DeviceMemoryInput {
  std::string device;  // "cuda:0"
  uint32_t number = 0;
  MemoryInput input;
  std::function<MemoryPlace(uint32_t owner)> place;
  uint64_t reported_peak = 0;  // by the allocator itself; 0: not known
};

// What an allocator counts itself.
struct AllocatorTold {
  uint64_t peak = 0;  // in the recording
  uint64_t stack_at_peak = 0, free_at_peak = 0;
  double fragmentation_at_peak = 0;
  uint64_t peak_of_life = 0;  // also before the recording; 0: not known
};

// One allocator of TensorFlow or JAX.
struct AllocatorInput {
  DeviceMemoryInput of;
  AllocatorTold told;
  uint64_t events = 0;
};

// Returns the inputs of a snapshot's devices that have events or segments. The snapshot outlives
// them.
std::vector<DeviceMemoryInput> InputsOfSnapshot(const MemorySnapshot& snapshot);

// Returns the inputs of the recorded allocations of a process. The context outlives them.
std::vector<DeviceMemoryInput> InputsOfRecording(PassContext& context, size_t index);

// Returns whether the process has rows of allocators of TensorFlow or JAX.
bool HasAllocators(const Process& process);
// Returns the inputs of these allocators. The context outlives them.
std::vector<AllocatorInput> InputsOfAllocators(PassContext& context, size_t index);

// Returns the names of the ranges of a snapshot that were open, outermost first: "a / b".
std::string RangesOpenAt(const MemorySnapshot& snapshot, size_t device, int64_t time_ns);

}  // namespace gpuprof::analysis
