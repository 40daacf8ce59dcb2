// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a device did for a process at each moment, and why it did nothing: each nanosecond has one
// category (proto/results/breakdown.proto).
//
// A gap between two pieces of work is explained by the work that ends it. Before its launch began,
// the host was late: the category says what the launching thread did. From then on the work was
// being launched. A gap that begins after the launch is the queue's if the work before it ran on
// the same stream, else a dependency. It is a dependency, too, if this stream ran a function on
// the host in between. If several pieces of work begin together, the one that was launched first
// counts: it alone would have ended the gap.
//
// Files of other tools may lack kernels, and do not tell. There, a device that does nothing for
// long although its next work lies in the queue was at work that is missing. That time is
// unexplained. A process with several devices may wait for another one: that is a dependency.
//
// Made for one process and device; one thread. The process, its calls and operations must outlive
// it.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/host_activity.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"
#include "proto/kinds/device_time.pb.h"

namespace gpuprof::analysis {

inline constexpr size_t kTimeCategories = results::TimeCategory_ARRAYSIZE;
using DeviceTimes = std::array<int64_t, kTimeCategories>;

// Returns what the device does in a row of work.
results::TimeCategory WorkCategory(const Track& track, const DeviceWork& work,
                                   KernelClasses* classes);

// A row of work: its place in the model.
struct WorkRef {
  uint32_t track = 0;  // index in Process::tracks
  DeviceWorkKind kind = DeviceWorkKind::kKernel;
  size_t row = 0;
};

// A time in which the device had no work.
struct DeviceGap {
  Interval span;                // the first gap begins at INT64_MIN, the last one ends at INT64_MAX
  std::optional<WorkRef> next;  // the work that ends it; none: no work follows
  std::optional<Call> launch;   // of that work; none: not in the recording
  bool is_same_stream = false;  // the work before it ran on the stream of the next, directly
  // Returns the end of the part in which the host was late.
  int64_t HostUntil() const;
  // Returns the category of the part behind it, as far as it was seen.
  results::TimeCategory Rest() const;
  // Returns from where on nothing in the recording explains the gap; its end: all is explained.
  int64_t UnseenFrom() const;

  bool is_explained = true;  // else long time in the queue is time of work that is missing
};

class DeviceTimeline {
 public:
  // Takes `may_lack_work` for a recording that does not tell whether all work is in it.
  DeviceTimeline(const Process& process, uint32_t device, const CallIndex& calls,
                 KernelClasses* classes, HostActivity* host, bool may_lack_work = false);

  // Returns whether the process had work on the device.
  bool HasWork() const { return !busy_.empty(); }
  // Returns the time from the first work to the end of the last.
  Interval Span() const { return {busy_.front().start, busy_.back().end}; }
  // Returns the times of all work, sorted and disjoint.
  const std::vector<Interval>& busy() const { return busy_; }
  // Returns the gaps by time; with one before the first work and one behind the last.
  const std::vector<DeviceGap>& gaps() const { return gaps_; }

  // Returns the time of each category within the window; they add up to its length.
  DeviceTimes Split(Interval window) const;
  // Adds the same for the part of a gap that lies in the window.
  void AddGap(const DeviceGap& gap, Interval window, DeviceTimes* times) const;

 private:
  struct Piece {
    Interval span;
    results::TimeCategory category;
  };
  void FindGaps(const Process& process, uint32_t device, const CallIndex& calls);

  HostActivity* host_;
  std::vector<Interval> busy_;
  std::vector<Piece> pieces_;  // of work, sorted and disjoint
  std::vector<DeviceGap> gaps_;
};

}  // namespace gpuprof::analysis
