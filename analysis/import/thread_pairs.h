// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds threads that an XSpace has twice: with calls under the system's number, and with operations
// under a number of the profiler. A call names the operation of XLA that made it. The
// operation of this name that ran at that moment tells the thread.

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/model/builder.h"

namespace gpuprof::analysis::import {

class ThreadPairs {
 public:
  // Adds a call of a timeline, made by an operation of this name. Many calls of one timeline tell
  // no more than some: further ones are left out.
  void Add(uint32_t timeline, uint32_t operation, int64_t time);
  // Returns pairs of timelines: of calls, and of operations.
  std::vector<std::pair<uint32_t, uint32_t>> Find(const ProcessBuilder& builder) const;

 private:
  struct Call {
    uint32_t operation = 0;  // string id
    int64_t time = 0;
  };

  std::map<uint32_t, std::vector<Call>> calls_;  // by timeline
};

}  // namespace gpuprof::analysis::import
