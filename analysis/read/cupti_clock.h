// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's clock against ours. It counts nanoseconds, by default those of CLOCK_REALTIME, so it is
// slewed and set as the wall clock is; the recorder reads both each second. Between two readings a
// straight line holds where they went at nearly the same pace. Where they did not the clock was set
// in between: its times before lie on the one side, those after on the other, and which of the two
// a time in the overlap was cannot be told.
//
// Pure functions.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/read/clock_map.h"

namespace gpuprof::analysis {

struct CuptiReading {
  uint64_t cupti_ns = 0;
  int64_t monotonic_ns = 0;
};

struct CuptiClock {
  std::vector<ClockMap::Point> points;
  uint64_t readings = 0;
  // The farthest that a reading lay from the line through its neighbours.
  double residual_ns = 0;
  // By how much it was set, all together; 0: it was not. Times near that moment may be that far
  // off.
  int64_t step_ns = 0;
  // It was set back so far that later times cannot be told from earlier ones: from there on they
  // are as wrong.
  bool is_lost = false;
};

// `readings` in the order in which they were made.
CuptiClock CuptiClockOf(const std::vector<CuptiReading>& readings);

}  // namespace gpuprof::analysis
