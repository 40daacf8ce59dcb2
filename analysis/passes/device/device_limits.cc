// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/device/device_limits.h"

#include <cctype>
#include <iterator>
#include <string>

namespace gpuprof::analysis {
namespace {

// "GPU-6ca2..." and CUPTI's sixteen bytes, both as hexadecimal digits.
std::string Digits(const std::string& uuid) {
  std::string digits;
  for (const char c : uuid.substr(uuid.rfind("GPU-", 0) == 0 ? 4 : 0)) {
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0)
      digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return digits;
}
std::string DigitsOfBytes(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (const char c : bytes) {
    digits += kDigits[static_cast<unsigned char>(c) >> 4];
    digits += kDigits[static_cast<unsigned char>(c) & 0xf];
  }
  return digits;
}

}  // namespace

bool IsSameDevice(const proto::Device& cuda, const proto::SampledDevice& sampled) {
  const std::string digits = Digits(sampled.uuid());
  return !digits.empty() && DigitsOfBytes(cuda.uuid()) == digits;
}

double PcieGbPerSecond(uint32_t generation, uint32_t width) {
  // Of one lane, by generation from 1 on.
  constexpr double kLane[] = {2.5 / 8 * 8 / 10,     5.0 / 8 * 8 / 10,     8.0 / 8 * 128 / 130,
                              16.0 / 8 * 128 / 130, 32.0 / 8 * 128 / 130, 64.0 / 8 * 242 / 256};
  return generation == 0 || generation > std::size(kLane) ? 0 : kLane[generation - 1] * width;
}

DeviceLimits::DeviceLimits(const Trace& trace, const Process& process) {
  for (const proto::Device& device : process.devices) {
    Limits& limits = limits_[device.id()];
    limits.memory_gb_per_s = static_cast<double>(device.memory_bandwidth_kb_per_s()) * 1e-6;
    for (const Process& sampler : trace.samplers) {
      if (sampler.host != process.host) continue;
      for (const auto& [track, sampled] : sampler.sampled_devices) {
        if (!sampled.is_pm() && IsSameDevice(device, sampled))
          limits.link_gb_per_s = PcieGbPerSecond(sampled.pcie_generation(), sampled.pcie_width());
      }
    }
  }
}

DeviceLimits::Limits DeviceLimits::Of(uint32_t device) const {
  const auto found = limits_.find(device);
  return found == limits_.end() ? Limits() : found->second;
}

}  // namespace gpuprof::analysis
