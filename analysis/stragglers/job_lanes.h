// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What each rank of a job did in each step, as its recording shows it, and the schedule that
// follows from that. A lane is a rank: its device, or the thread of its loop. Pure, any thread.
//
// All steps of a schedule have the same collectives, so the time between two of them can be
// compared across ranks and steps. Time in which a rank only waited for a collective is not work.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/steps/interval.h"
#include "analysis/stragglers/schedule.h"

namespace gpuprof::analysis {

// What a lane does. The order is that of tables.
enum class LanePhase : uint8_t {
  kInput,
  kForward,
  kBackward,
  kOptimizer,
  kCompute,   // kernels whose phase nothing tells
  kLockWait,  // of the host alone, as the next one
  kBlocked,
  kHost,  // the device had nothing to do, and the host did not load data
  kOther  // none of these
};
inline constexpr size_t kLanePhases = 9;
std::string_view PhaseName(LanePhase phase);

struct LanePiece {
  Interval span;
  LanePhase phase = LanePhase::kOther;
};

struct LaneCollective {
  int64_t arrival_ns = 0, done_ns = 0;
  uint32_t name = 0;    // index of JobLanes::names
  uint32_t stream = 0;  // collectives of one stream follow each other
  // The end of the time from arrival to done in which the lane did nothing else. Empty: none.
  Interval wait;
  bool has_end = true;  // else the end was not recorded: a rank that comes last may not wait
};

struct LaneStep {
  uint64_t number = 0;
  Interval span;
  bool is_warmup = false;
  bool follows = false;           // directly behind the step before
  std::vector<LanePiece> pieces;  // of work: sorted, disjoint, without waits for collectives
  std::vector<LaneCollective> collectives;  // by arrival
};

// All times are of one clock.
struct JobLane {
  bool has_numbers = false;  // the program numbered its steps
  std::vector<LaneStep> steps;
};

struct JobLanes {
  std::vector<std::string> names;  // of collectives
  std::vector<JobLane> lanes;
};

enum class JobFault {
  kNone,
  kNoSteps,         // a lane has no steps, or no step is one of all lanes
  kNoCollectives,   // no step has a collective
  kDifferentOrder,  // no step has the same collectives in all lanes
  kNoEnds,          // of many collectives no lane has the end
  kNoSuchSteps,     // none of the asked steps is one of all lanes
  kTooLarge,
};

struct JobSchedule {
  JobFault fault = JobFault::kNone;
  Schedule schedule;
  uint64_t left_out_steps = 0;            // warm-up, or with other collectives
  std::vector<std::vector<size_t>> rows;  // by lane and step: index of JobLane::steps
};

// Makes the schedule of a job. Replicas are lanes, in their order. `steps`: only those with numbers
// from the first to the second.
JobSchedule MakeJobSchedule(const JobLanes& job,
                            const std::optional<std::pair<uint64_t, uint64_t>>& steps = {});

}  // namespace gpuprof::analysis
