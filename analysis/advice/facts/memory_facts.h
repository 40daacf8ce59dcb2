// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What rules about memory and clocks look at, for one device. Pure.

#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace gpuprof::analysis {

struct MemoryFacts {
  uint64_t capacity_bytes = 0;  // 0: not known
  // Most that the device held: as NVML read it, or as the framework reserved it. 0: not known.
  uint64_t used_peak_bytes = 0;
  const char* used_source = "";
  int64_t used_peak_time_ns = 0;
  // The framework's own counts at the moment when tensors held most. 0: not known.
  uint64_t tensors_bytes = 0, reserved_bytes = 0;
  int64_t tensors_time_ns = 0;
  // The least that was allocated in each counted step. 0 steps: not known.
  uint64_t floor_steps = 0;   // steps with a floor
  uint64_t rising_steps = 0;  // steps whose floor is above that of the step before
  bool never_falls = false;   // no floor is below the one before
  uint64_t first_floor_bytes = 0, last_floor_bytes = 0;
  const char* floor_source = "";
};

// Readings of NVML within the counted steps.
struct ClockFacts {
  uint64_t reading_count = 0;
  double mean_mhz = 0;
  double highest_mhz = 0;    // that the device reached, or can reach
  double limited_ratio = 0;  // part of the readings with a reason that slows the device
  std::map<std::string, double> reasons;  // the same by reason
};

}  // namespace gpuprof::analysis
