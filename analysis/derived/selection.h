// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A part of a trace as a trace of its own: a window of time, some devices. So every pass can look
// at the part alone.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct TimeWindow {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // the first moment behind it
};

struct Selection {
  // Rows that begin in it. A row is in one window alone, whole, so that figures of windows that
  // touch add up.
  std::optional<TimeWindow> window;
  // Work on a device counts when the call that launched it began, if that call is known. Otherwise
  // it counts when it began itself.
  bool by_launch = false;
  std::vector<uint32_t> devices;  // whose work counts; empty: all

  bool is_all() const { return !window && devices.empty(); }
};

// Returns the part of the trace. What is not rows stays: names, stacks, devices, losses. Throws
// only for lack of memory.
std::shared_ptr<const Trace> Select(const Trace& trace, const Selection& selection);

}  // namespace gpuprof::analysis
