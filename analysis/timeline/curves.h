// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Curves of the timeline: hardware counters, memory over time, work that waits for a device. Each
// is made as a whole. Pure; one thread.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis::timeline {

// Values by time: each holds until the next.
struct Curve {
  std::vector<double> time_ns;
  std::vector<double> value;
  size_t bytes() const { return time_ns.size() * 2 * sizeof(double); }
};

// Returns the values of a counter of a track, divided by its divisor.
Curve CounterCurve(const Track& track, uint32_t counter, uint32_t divisor);

// Returns what a framework's allocator had handed out on a device (TensorTable::device).
Curve TensorCurve(const Process& process, uint32_t device);

// Returns how much of the heap was live that was allocated since the recording began.
Curve HeapCurve(const Process& process);

// Returns how much memory of a device the process had from CUDA since the recording began.
// `tracks`: indices.
Curve DeviceMemoryCurve(const Process& process, const std::vector<uint32_t>& tracks);

// Returns how much work of these streams was launched and had not begun. Work whose call was not
// recorded does not count.
Curve QueueCurve(const Process& process, const CallIndex& calls,
                 const std::vector<uint32_t>& streams);

// Returns the curve's values in a window, at most about one for each pixel: the first moment of
// each cell with its extremes. The value before the window is there.
struct CurvePart {
  std::vector<double> time_ns, least, most;
};
CurvePart PartOf(const Curve& curve, double start_ns, double end_ns, double ns_per_px);

}  // namespace gpuprof::analysis::timeline
