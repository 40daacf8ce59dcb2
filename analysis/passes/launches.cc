// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See launches.h.

#include "analysis/passes/launches.h"

namespace gpuprof::analysis {

Launches::Launches(const Process& process) {
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    const ApiTable& calls = process.tracks[t].api;
    for (uint32_t i = 0; i < calls.rows(); ++i) {
      if (calls.correlation[i] == 0) continue;
      const Launch launch = {calls.end_ns[i] - calls.duration_ns[i], calls.end_ns[i], t, i};
      const auto [at, added] = by_correlation_.try_emplace(calls.correlation[i], launch);
      if (!added && launch.start_ns < at->second.start_ns) at->second = launch;
    }
  }
}

const Launch* Launches::Find(uint32_t correlation) const {
  const auto found = by_correlation_.find(correlation);
  return found == by_correlation_.end() ? nullptr : &found->second;
}

}  // namespace gpuprof::analysis
