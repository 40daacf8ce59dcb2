// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When all used devices were busy, and why they were not, over all processes that used them: for
// the pass `overview`. A device of one process has the times of the pass `idle`. A device that
// several processes used was idle while none of them used it. Nanoseconds; one thread.

#pragma once

#include <cstdint>

#include "analysis/passes/context.h"
#include "analysis/passes/device/device_gaps.h"
#include "analysis/passes/device/used_devices.h"

namespace gpuprof::analysis {

struct DeviceUse {
  int64_t window_ns = 0;
  int64_t busy_ns = 0;
  IdleCauses causes;
  // Returns whether the causes are of all idle time. They are not if there was too much work.
  bool has_causes = true;

  int64_t idle_ns() const { return window_ns - busy_ns; }
};

// Returns the sum over all devices. The rows of their work must be there (not Trace::has_sums).
DeviceUse UseOfAll(PassContext& context, const UsedDevices& devices);

}  // namespace gpuprof::analysis
