// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CUDA's allocations of one process as blocks with their lifetimes, in order of time. For
// device_memory and every other pass that reports device memory. All blocks are exact: nothing here
// is sampled. Any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct DeviceBlock {
  int64_t time_ns = 0;   // of its allocation; of an older one, of its release
  int64_t life_ns = -1;  // -1: not seen being released, nor its context's end
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t pool = 0;
  uint64_t pc = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;  // kNoCudaId: of none
  uint32_t kind = 0;    // CUpti_ActivityMemoryKind
  uint32_t origin = 0;  // string id
  uint32_t correlation = 0;
  bool is_async = false;
  bool is_older = false;            // allocated before the capture that saw its release
  bool is_live = false;             // at the end of the last capture
  bool ended_with_context = false;  // nothing released it before
};

struct DeviceMemoryEvent {
  enum What {
    kAllocation,
    kRelease,
    kOlderRelease,
    kContextEnd,  // its context was destroyed, and it with it
    kForgotten    // its capture ended: its later fate is not known
  };
  int64_t time_ns;
  uint32_t block;
  What what;
  uint32_t correlation;  // of the call; 0: not known
};

struct DeviceMemoryHistory {
  std::vector<DeviceBlock> blocks;
  std::vector<DeviceMemoryEvent> events;
  // Blocks handed out again although their release was not seen.
  uint64_t implied_releases = 0;
};

DeviceMemoryHistory FollowDeviceMemory(const Process& process, const CallIndex& calls);

// Returns whether memory of this kind is on the device, not the host.
bool IsOnDevice(uint32_t memory_kind);

}  // namespace gpuprof::analysis
