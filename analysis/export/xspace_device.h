// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The planes of devices of an XSpace, as XLA's profiler writes them for CUDA. A stream is a line
// with its kernels, copies and memsets. For ExportXSpace, one thread.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/derived/origin.h"
#include "analysis/export/xplane_writer.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

class XSpaceDevice {
 public:
  // Uses context and process, which must outlive it. `start_ns`: of the profile.
  XSpaceDevice(PassContext& context, size_t process, int64_t start_ns);

  // Returns the devices that the process used.
  std::set<uint32_t> Devices() const;
  // Returns the plane of a device.
  XPlaneWriter Plane(uint32_t device);

 private:
  // What is the same for all kernels of a signature.
  struct Shape {
    std::string name, details;
  };
  void Describe(uint32_t device, XPlaneWriter* plane) const;
  void Stream(const Track& track, int64_t line, XPlaneWriter* plane);
  void Kernel(const Track& track, size_t row, XPlaneWriter* plane);
  void Copy(const MemcpyTable& table, size_t row, XPlaneWriter* plane) const;
  void Set(const MemsetTable& table, size_t row, XPlaneWriter* plane) const;
  void GraphLaunch(const GraphLaunchTable& table, size_t row, XPlaneWriter* plane) const;
  template <typename Table>
  void Begin(std::string_view name, const Table& table, size_t row, XPlaneWriter* plane) const;
  const Shape& ShapeOf(uint32_t signature, uint32_t device);
  const std::string* LabelOf(OpRef op);

  const Process& process_;
  const ProcessOps& ops_;
  int64_t start_ns_;
  Origin origin_;
  std::unordered_map<uint64_t, Shape> shapes_;        // by signature and device
  std::unordered_map<uint32_t, std::string> labels_;  // of operations, by their names
};

}  // namespace gpuprof::analysis
