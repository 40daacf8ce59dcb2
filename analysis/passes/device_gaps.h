// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When a device worked, the gaps between, and why it did not work in them. A gap ends where some
// stream's work begins; that work's launch tells the cause: it had not begun when the gap began
// (host), was under way (launch), or was over (dependency). For a device as one process used it and
// for all of its processes together. Nanoseconds; one thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/passes/launches.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// Whether anything is in the track that takes its device's time: kernels, copies, sets, graphs that
// were recorded as a whole.
bool HasWork(const Track& track);

// Of all that work: sorted and disjoint.
std::vector<Interval> BusyOf(const Track& track);

// When the process was recorded.
std::vector<Interval> CapturesOf(const Process& process);

// Parts of `captures` from the first work in them to the end of the last that began in them; `busy`
// is sorted and disjoint. Where a device was busy since before, from the capture's start: what a
// flight recorder kept, or work without a pause, seldom begins with it.
std::vector<Interval> WorkWindows(std::span<const Interval> captures,
                                  const std::vector<Interval>& busy);

struct Gap {
  Interval span;
  // The call that launched what ended it, where that was recorded.
  bool has_launch = false;
  Interval launch;
};

// By time. What lies between two windows is no gap. Launches are yet to be found.
std::vector<Gap> GapsIn(const std::vector<Interval>& windows, const std::vector<Interval>& busy);

// Of the gaps that end where work of the track begins. Of several pieces of work that do, of
// whatever tracks, the one launched first counts: it alone would have ended the gap.
void FindLaunches(const Track& track, const Launches& launches, std::vector<Gap>* gaps);

struct IdleTimes {
  int64_t host_ns = 0;
  int64_t launch_ns = 0;
  int64_t dependency_ns = 0;
  int64_t unknown_ns = 0;
  int64_t unseen_ns = 0;  // of the unknown: there may have been work

  // `unseen` (sorted and disjoint): when there may have been work that is not recorded.
  void Add(const Gap& gap, const std::vector<Interval>& unseen);

 private:
  void AddSeen(const Gap& gap, const Interval& part);
};

}  // namespace gpuprof::analysis
