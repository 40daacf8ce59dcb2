// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When a device worked, the gaps between, and why it did not work in the gaps. A gap ends where
// some stream's work begins, and the launch of this work gives the cause. The launch had not begun
// when the gap began (host), was running (launch), or was over (dependency). For a device as one
// process used it, and for all of its processes together. Nanoseconds; one thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// Returns whether the track holds work that takes its device's time: kernels, copies, memsets,
// graphs that were recorded as a whole.
bool HasWork(const Track& track);

// Returns the times of all that work, sorted and disjoint.
std::vector<Interval> BusyOf(const Track& track);

// Returns the times in which the process was recorded.
std::vector<Interval> CapturesOf(const Process& process);

// Returns the parts of `captures` from their first work to the end of the last work that began in
// them. `busy` is sorted and disjoint. If a device was already busy, the part begins with the
// capture. The reason: a flight recorder's kept part, or work without a pause, seldom begins with
// the capture.
std::vector<Interval> WorkWindows(std::span<const Interval> captures,
                                  const std::vector<Interval>& busy);

struct Gap {
  Interval span;
  // The call that launched what ended it, where that was recorded.
  bool has_launch = false;
  Interval launch;
};

// Returns the gaps, sorted by time. The time between two windows is not a gap. The launches are not
// set yet.
std::vector<Gap> GapsIn(const std::vector<Interval>& windows, const std::vector<Interval>& busy);

// Sets the launches of gaps that end where work of the track begins. If several pieces of work on
// any tracks end a gap, the piece that was launched first counts: it alone would have ended the
// gap.
void FindLaunches(const Track& track, const CallIndex& calls, std::vector<Gap>* gaps);

struct IdleTimes {
  int64_t host_ns = 0;
  int64_t launch_ns = 0;
  int64_t dependency_ns = 0;
  int64_t unknown_ns = 0;
  int64_t unseen_ns = 0;         // of the unknown: there may have been work
  int64_t host_function_ns = 0;  // of the dependency: a stream ran a function on the host

  // Adds a gap. `unseen` holds the times that may hold work that is not recorded. In the times of
  // `host_functions`, streams of the device ran functions on the host. Both are sorted and
  // disjoint.
  void Add(const Gap& gap, const std::vector<Interval>& unseen,
           const std::vector<Interval>& host_functions = {});

 private:
  void AddSeen(const Gap& gap, const Interval& part, const std::vector<Interval>& host_functions);
};

}  // namespace gpuprof::analysis
