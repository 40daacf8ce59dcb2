// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much of a multiprocessor a kernel can fill: the occupancy that its launch allows, and in how
// many waves its blocks run. The formulas are those of the CUDA C++ Programming Guide ("Compute
// Capabilities") and of the occupancy calculator. Only counters show the occupancy that was
// reached.
//
// Pure functions.

#pragma once

#include <cstdint>
#include <optional>

#include "proto/trace.pb.h"

namespace gpuprof::analysis {

// The resource that limits the occupancy.
enum class OccupancyResource : uint8_t {
  kWarps,  // all are used: nothing limits it
  kRegisters,
  kSharedMemory,
  kBlocks,  // their number is at the limit while they have too few warps
};

struct Occupancy {
  uint32_t blocks = 0;  // that are resident on one multiprocessor at a time
  double ratio = 0;     // of the warps that one holds at most
  OccupancyResource limit = OccupancyResource::kWarps;
  double waves = 0;  // blocks of the grid by those resident on the whole device
};

// Computes the occupancy. Empty: the device's limits are not in the trace, or the device cannot
// hold the launch.
std::optional<Occupancy> OccupancyOf(const proto::Device& device, const proto::Signature& launch);

}  // namespace gpuprof::analysis
