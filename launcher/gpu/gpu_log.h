// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof run --gpu-log FILE`: a CSV like that of `nvidia-smi --query-gpu=... --format=csv`, so
// that what reads the one reads the other: units in the header and behind the values, "[N/A]" for
// what the device does not offer. Columns that nvidia-smi has bear its names; those of GPM, which
// it has not, begin with "gpm.".

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/gpu/counters.h"
#include "launcher/gpu/device_reader.h"

namespace gpuprof::launcher {

// Each line is handed to the kernel with one write, so that a kill loses none.
class GpuLog {
 public:
  GpuLog() = default;
  ~GpuLog() { Close(); }
  GpuLog(const GpuLog&) = delete;
  GpuLog& operator=(const GpuLog&) = delete;

  // Makes the file anew. Empty, or cause and fix.
  std::string Open(const std::string& path);
  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  // In the sampler's process, whose number for the file is another one.
  void Adopt(int fd) { fd_ = fd; }
  void Close();

  // False: it could not be written, errno tells why.
  bool WriteHeader() const;
  bool WriteLine(const DeviceIdentity& device, int64_t realtime_ns,
                 const std::vector<Reading>& readings) const;

 private:
  int fd_ = -1;
};

// The pure ones, with their newline. Times are local, as nvidia-smi's.
std::string GpuLogHeader();
std::string GpuLogLine(const DeviceIdentity& device, int64_t realtime_ns,
                       const std::vector<Reading>& readings);

}  // namespace gpuprof::launcher
