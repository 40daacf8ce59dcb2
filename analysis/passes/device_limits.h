// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a copy can reach at most: the link to the host, as NVML told it of the same GPU, and the
// GPU's memory, as CUPTI told it. One thread.

#pragma once

#include <cstdint>
#include <map>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// CUPTI's device and NVML's, by their uuid; what has none is no device of the other's.
bool IsSameDevice(const proto::Device& cuda, const proto::SampledDevice& sampled);

// One direction, in GB/s (10^9 bytes): lanes times the rate of the generation less its line code
// (PCI Express Base Specification: 8b/10b up to 2, 128b/130b up to 5, 242 bytes of a flit of 256
// from 6 on). Packets' headers take a tenth or so of it. 0: of no known generation.
double PcieGbPerSecond(uint32_t generation, uint32_t width);

class DeviceLimits {
 public:
  DeviceLimits(const Trace& trace, const Process& process);

  struct Limits {
    double link_gb_per_s = 0;    // to or from the host; 0: not told
    double memory_gb_per_s = 0;  // reads and writes together; 0: not told
  };
  // By CUPTI's number.
  Limits Of(uint32_t device) const;

 private:
  std::map<uint32_t, Limits> limits_;
};

}  // namespace gpuprof::analysis
