// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How long the GPU worked for the calls that a thread made in some time: kernels, copies, memsets
// and graphs, each with its own duration. Pure, any thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

class LaunchedTime {
 public:
  LaunchedTime(const Process& process, const CallIndex& calls);

  // Returns whether the process launched any work that was recorded.
  bool HasWork() const { return has_work_; }
  // Returns the time of work that the thread launched in `disjoint`, which is sorted.
  int64_t Within(size_t track, std::span<const Interval> disjoint) const;

 private:
  // The calls of a thread that launched work, sorted.
  struct Launched {
    int64_t time_ns;  // the middle of the call
    int64_t sum_ns;   // the work of this call and all calls before
  };

  bool has_work_ = false;
  std::vector<std::vector<Launched>> by_track_;
};

}  // namespace gpuprof::analysis
