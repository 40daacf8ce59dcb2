// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The call stacks that were taken at launches of work, by correlation id. Made for one process,
// then read only, on any thread.

#pragma once

#include <cstdint>
#include <unordered_map>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class LaunchStacks {
 public:
  explicit LaunchStacks(const Process& process);

  // Finds the stack of a launch, in Process::stacks. 0: no stack was taken.
  uint32_t Find(uint32_t correlation) const;

 private:
  std::unordered_map<uint32_t, uint32_t> by_correlation_;
};

}  // namespace gpuprof::analysis
