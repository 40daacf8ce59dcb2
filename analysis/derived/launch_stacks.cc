// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See launch_stacks.h.

#include "analysis/derived/launch_stacks.h"

#include "proto/record.h"

namespace gpuprof::analysis {

LaunchStacks::LaunchStacks(const Process& process) {
  for (const Track& track : process.tracks) {
    const LaunchTable& launches = track.launch;
    for (size_t row = 0; row < launches.rows(); ++row)
      by_correlation_.emplace(launches.correlation[row], launches.stack[row]);
  }
}

uint32_t LaunchStacks::Find(uint32_t correlation) const {
  if (by_correlation_.empty()) return 0;
  const auto found = by_correlation_.find(correlation);
  return found == by_correlation_.end() ? 0 : found->second;
}

}  // namespace gpuprof::analysis
