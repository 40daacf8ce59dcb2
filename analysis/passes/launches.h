// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which call of the program began a piece of the GPU's work: CUPTI gives both the same correlation
// id.

#pragma once

#include <cstdint>
#include <unordered_map>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct Launch {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t track = 0;  // index in Process::tracks
  uint32_t row = 0;    // in its api table
};

class Launches {
 public:
  explicit Launches(const Process& process);

  // Finds a call. Null: the call was not recorded. A runtime call and the driver calls in it share
  // an id; then this returns the runtime call.
  const Launch* Find(uint32_t correlation) const;

 private:
  std::unordered_map<uint32_t, Launch> by_correlation_;
};

}  // namespace gpuprof::analysis
