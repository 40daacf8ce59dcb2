// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which call of the program began a piece of the GPU's work: CUPTI gives both the same correlation
// id. Built once for a process, then read only, on any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct Call {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t track = 0;  // index in Process::tracks
  uint32_t row = 0;    // in its api table
};

class CallIndex {
 public:
  // Keeps a reference to the process.
  explicit CallIndex(const Process& process);

  // Finds a call. None: the call was not recorded. A runtime call and the driver calls in it share
  // an id; then this returns the runtime call.
  std::optional<Call> Find(uint32_t correlation) const;

 private:
  struct Entry {
    uint32_t correlation;
    uint32_t track;
    uint32_t row;
  };
  Call CallOf(const Entry& entry) const;

  const Process* process_;
  std::vector<Entry> entries_;  // by correlation; each id is there once
};

}  // namespace gpuprof::analysis
