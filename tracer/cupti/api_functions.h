// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The functions of the runtime's and the driver's API: what the library calls them, and which of
// them are recorded. Of the runtime all but those that only look; of the driver those that launch,
// copy, set, allocate, release, record events and wait, which programs (Triton, JAX) call without
// the runtime.
//
// FindFunctions: the thread that calls CUPTI, before anything is recorded, and again while no name
// was told; then any thread.

#pragma once

#include <cstdint>

#include "tracer/cupti/abi.h"
#include "tracer/cupti/library.h"

namespace gpuprof::tracer::cupti {

// By callback id.
struct FunctionNames {
  static constexpr uint32_t kMost = 1024;
  const char* name[3][kMost] = {};  // by Domain; null where a library has no name for it
  bool is_recorded[3][kMost] = {};
  bool is_event_record[3][kMost] = {};
  bool is_graph_launch[3][kMost] = {};
  bool any = false;  // none: the library does not tell, or not yet

  bool IsRecorded(Domain domain, uint32_t id) const {
    return id < kMost ? is_recorded[domain][id] : domain == kRuntimeApi;
  }
  // Whether proto::ApiFunction `function` records a CUDA event.
  bool IsEventRecord(uint32_t function) const {
    const uint32_t domain = function >> 24, id = function & 0xffffff;
    return domain < 3 && id < kMost && is_event_record[domain][id];
  }
  // Likewise, whether it launches a CUDA graph.
  bool IsGraphLaunch(uint32_t function) const {
    const uint32_t domain = function >> 24, id = function & 0xffffff;
    return domain < 3 && id < kMost && is_graph_launch[domain][id];
  }
};

void FindFunctions(const Functions& library, FunctionNames* names);

// By its name in the library, which ends in the version of the function's interface: _v7000, _v2,
// _ptsz. Null: a function that the library has no name for.
bool IsRecordedFunction(Domain domain, const char* name);
bool IsEventRecordFunction(const char* name);
bool IsGraphLaunchFunction(const char* name);

}  // namespace gpuprof::tracer::cupti
