// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The highest speed that a copy can reach. NVML reported the link to the host, and CUPTI reported
// the memory of the same GPU. One thread.

#pragma once

#include <cstdint>
#include <map>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns whether CUPTI's device and NVML's device have the same uuid. A device without a uuid
// matches no other device.
bool IsSameDevice(const proto::Device& cuda, const proto::SampledDevice& sampled);

// Returns the speed of one direction in GB/s (10^9 bytes): lanes times the rate of the generation,
// less its line code. The line codes are from the PCI Express Base Specification. They are 8b/10b
// up to 2, 128b/130b up to 5, 242 bytes of a flit of 256 from 6 on. Headers of packets take about a
// tenth more. 0: the generation is not known.
double PcieGbPerSecond(uint32_t generation, uint32_t width);

class DeviceLimits {
 public:
  DeviceLimits(const Trace& trace, const Process& process);

  struct Limits {
    double link_gb_per_s = 0;    // to or from the host; 0: not known
    double memory_gb_per_s = 0;  // reads and writes together; 0: not known
  };
  // Returns the limits of the device with CUPTI's number.
  Limits Of(uint32_t device) const;

 private:
  std::map<uint32_t, Limits> limits_;
};

}  // namespace gpuprof::analysis
