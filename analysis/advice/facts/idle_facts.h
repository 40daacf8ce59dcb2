// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What rules look at of the gaps of a device: those that begin in its counted steps.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/results/idle.pb.h"

namespace gpuprof::analysis {

struct IdleFacts {
  struct Gap {
    int64_t duration_ns = 0;
    int64_t late_ns = 0;  // before the launch of the next work began
    int64_t host_ns = 0;  // the part in other work of the host; 0 for gaps below a millisecond
  };
  std::vector<Gap> gaps;
  results::IdleGap longest;  // without a duration: there is no gap
  // Among the longest gaps the one with most time of each category.
  std::map<results::TimeCategory, results::IdleGap> longest_of;
  // How long the device waited for launches, by the operation, and by the function of Python. The
  // launching thread was in it for most of a wait.
  std::map<std::string, int64_t> late_by_op, late_by_function;
};

}  // namespace gpuprof::analysis
