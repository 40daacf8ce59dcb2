// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What XProf takes a GPU for: its name on the pages, and its peaks. Pure functions, any thread.
// Source of the rates: the vendors' white papers, as XProf 2.24.0 uses them.

#pragma once

#include <string>

#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

struct DevicePeaks {
  double teraflops = 0;
  double memory_gigabytes = 0;  // a second
  double shared_gigabytes = 0;  // a second, written to shared memory
};

// Returns "Nvidia GPU (Hopper)"; "GPU" if the plane does not tell the vendor.
std::string DeviceType(const Plane& gpu);
DevicePeaks PeaksOf(const Plane& gpu);

}  // namespace gpuprof::analysis::xprof
