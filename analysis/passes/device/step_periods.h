// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The period of each step: the time that all shares, gains and rates are of. The one definition for
// a step with its device's side.
//
// A period begins with the mark of its step. If the device is still at work of earlier steps then,
// the period begins when that work ends: the device sets the pace. It ends where the next period
// begins. A step without a next one directly behind ends with its own last work, if the device set
// the pace at its begin. Else it ends with its mark, or with its last work if that is later. So
// neighbouring periods touch, and what lies between steps that do not follow each other (an
// evaluation, a checkpoint) is in none.
//
// Pure functions; the arguments are read only.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_timeline.h"
#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/step_summary.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

// Returns the period of each step on the device, in the order of the steps. `work_ends`: when the
// last work of each step ended; INT64_MIN: it had none. An empty interval: the step has no period,
// as those around it take all of its time.
std::vector<Interval> StepPeriods(const Process& process, uint32_t device, const CallIndex& calls,
                                  const DeviceTimeline& timeline, std::span<const Step> steps,
                                  std::span<const int64_t> work_ends);

// Returns the same for a program without a device: from mark to mark.
std::vector<Interval> HostPeriods(std::span<const Step> steps);

// Fills the overview's step from the lengths of the counted periods, and the steps a second.
void SetStepPeriod(const std::vector<int64_t>& lengths, results::Overview* out);

// Returns for each step whether the next one follows directly. A pause far longer than those
// between most steps belongs to neither step.
std::vector<bool> FollowedDirectly(std::span<const Step> steps);

}  // namespace gpuprof::analysis
