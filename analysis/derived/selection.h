// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A part of a trace as a trace of its own: a window of time, some devices. So every pass can look
// at the part alone.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct TimeWindow {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // the first moment behind it
};

struct Selection {
  // Rows that begin in it. A row is in one window alone, whole, so that figures of windows that
  // touch add up. Samples of stacks are cut to the window instead.
  std::optional<TimeWindow> window;
  // Work on a device counts when the call that launched it began, if that call is known. Otherwise
  // it counts when it began itself.
  bool by_launch = false;
  std::vector<uint32_t> devices;  // whose work counts; empty: all

  bool is_all() const { return !window && devices.empty(); }
};

// Returns the calls of a process, by its index.
using CallsOf = std::function<const CallIndex&(size_t)>;

// Returns the part of the trace. What is not rows stays: names, stacks, devices, losses. Throws
// only for lack of memory. `calls_of`: null if the caller does not have the calls of the processes.
std::shared_ptr<const Trace> Select(const Trace& trace, const Selection& selection,
                                    const CallsOf& calls_of = nullptr);

}  // namespace gpuprof::analysis
