// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How long a device had work between its first and its last, of whichever process. For passes whose
// rows are operations. Nanoseconds; one thread.

#pragma once

#include <cstdint>

#include "analysis/passes/context.h"
#include "analysis/passes/device/used_devices.h"

namespace gpuprof::analysis {

// What is not busy in the window is idle.
struct DeviceWindow {
  int64_t window_ns = 0;
  int64_t busy_ns = 0;
};

DeviceWindow WindowOf(PassContext& context, const UsedDevice& device);

// Returns whether the union of all work takes more memory than the rest of a pass.
bool HasMuchWork(const PassContext& context);

}  // namespace gpuprof::analysis
