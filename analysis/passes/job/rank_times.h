// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What each step of each rank of a job is made of. A rank does work of its own, by phase. It waits
// for other ranks, and data moves. For passes about jobs. One thread.
//
// A rank with a GPU has steps of its device: the periods of step_periods.h. What the device did is
// split by the phase of its kernels (derived/kernel_phase.h), and its idle time by what the host
// did. Another rank has steps of its training thread. In both cases each nanosecond of a step is in
// one part.
//
// A collective lasts from the arrival of its rank to the common end. Until the last rank arrived,
// the rank waited. From then on data moved. What computes at the same time counts as computing.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/passes/context.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// The parts of a step. The order is that of tables and columns.
enum class RankTime : uint8_t {
  kInput,
  kForward,
  kBackward,
  kOptimizer,
  kCompute,   // kernels whose phase is not known
  kCopy,      // while no kernel ran
  kWait,      // in a collective, before the last rank came
  kTransfer,  // in a collective, after that; or nothing tells when the last rank came
  kHost,      // the device waited for the host; or the thread did something else
  kOther,
};
inline constexpr size_t kRankTimes = 10;
using RankTimes = std::array<int64_t, kRankTimes>;

// Returns the name of a part: "backward".
std::string_view RankTimeName(RankTime time);

// Returns the sum of the parts that a rank does itself: all but waiting and transfer.
int64_t OwnTime(const RankTimes& times);

// A collective in which a rank took part, by its own clock.
struct RankCollective {
  Interval span;        // from its arrival to the common end
  int64_t last_ns = 0;  // the last rank arrived
};

struct RankStep {
  uint64_t number = 0;
  Interval span;         // by the rank's own clock
  RankTimes times = {};  // they add up to the length
};

struct RankSteps {
  size_t process = 0;              // index in Trace::processes
  std::optional<uint32_t> device;  // none: times are of the host
  int64_t clock_offset_ns = 0;     // what is added to its times
  bool has_numbers = false;        // the program numbers its steps
  std::vector<RankStep> steps;     // by time, without warm-up
};

// The steps of all selected ranks.
struct JobSteps {
  bool has_arrivals = false;     // waiting and transfer are apart
  int64_t clock_error_ns = 0;    // how far times of two ranks may be wrong against each other
  bool has_clocks = false;       // the clocks of ranks were aligned
  std::vector<RankSteps> ranks;  // by their numbers
};

// Finds the steps of the selected processes that have some. If some ranks have devices, ranks
// without a device are left out.
JobSteps FindJobSteps(PassContext& context);

}  // namespace gpuprof::analysis
