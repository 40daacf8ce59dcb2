// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What happens in each step: marks of the step, and typed spans of host and devices. Pure
// functions on a grouped space, any thread. Source: XProf 2.24.0.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

// The larger number has the time that spans share.
enum class StepTime : uint8_t {
  kUnknown = 0,
  kHostCompute = 10,
  kHostToHost = 70,
  kHostToDevice = 80,
  kHostPrepare = 90,
  kDeviceCollectives = 100,
  kHostWaitInput = 110,
  kDeviceToDevice = 120,
  kDeviceToHost = 130,
  kDeviceCompute32 = 140,
  kDeviceCompute16 = 150,
};

struct StepSpan {
  StepTime type = StepTime::kUnknown;
  Span span;
};

struct StepMark {
  bool is_device = false;
  Span span;
};

struct StepDetails {
  std::vector<StepMark> marks;
  std::vector<StepSpan> spans;
  std::string name;

  // Returns the longest mark of a device, or the longest of the host if it contains that of the
  // device.
  Span Time() const;
};

// By group.
using StepEvents = std::map<int64_t, StepDetails>;

// Collects the steps of all GPUs of a space: the spans of all are in one list.
StepEvents StepsOfGpus(Space* space);
// Collects the steps of the host's threads, as XProf takes them for programs without a device.
StepEvents StepsOfHost(const Plane& host);
// Parts the time of each step: no spans overlap, and the gaps between spans are kUnknown.
void Sweep(StepEvents* steps);

}  // namespace gpuprof::analysis::xprof
