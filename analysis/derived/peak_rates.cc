// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See peak_rates.h.

#include "analysis/derived/peak_rates.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace gpuprof::analysis {
namespace {

constexpr double kTeraFlops = 1e12;

// 10^12 operations a second and GB/s; 0: the device has no such units.
struct DevicePeak {
  // Words of the device's name: all of them have to be there. The first row that fits counts.
  std::string_view words[2];
  double fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4;
  double gb_per_s;
  std::string_view source;
};

constexpr DevicePeak kDevicePeaks[] = {
    {{"B200"}, 37, 75, 1125, 2250, 2250, 4500, 4500, 9000, 8000, "NVIDIA HGX B200 data sheet"},
    {{"H200"}, 67, 67, 494.5, 989.5, 989.5, 1979, 1979, 0, 4800, "NVIDIA H200 data sheet"},
    {{"H100", "PCIe"}, 51, 51, 378, 756, 756, 1513, 1513, 0, 2000, "NVIDIA H100 data sheet"},
    {{"H100", "NVL"},
     60,
     60,
     417.5,
     835.5,
     835.5,
     1670.5,
     1670.5,
     0,
     3900,
     "NVIDIA H100 NVL data sheet"},
    {{"H100"}, 67, 67, 494.5, 989.5, 989.5, 1979, 1979, 0, 3350, "NVIDIA H100 data sheet"},
    {{"A100"}, 19.5, 19.5, 156, 312, 312, 0, 624, 0, 1555, "NVIDIA A100 data sheet"},
    {{"V100", "SXM2"}, 7.8, 15.7, 0, 125, 0, 0, 0, 0, 900, "NVIDIA V100 data sheet"},
    {{"V100", "PCIE"}, 7, 14, 0, 112, 0, 0, 0, 0, 900, "NVIDIA V100 data sheet"},
    {{"L40S"}, 0, 91.6, 183, 362, 362, 733, 733, 0, 864, "NVIDIA L40S data sheet"},
    {{"L4"}, 0, 30.3, 60, 121, 121, 242.5, 242.5, 0, 300, "NVIDIA L4 data sheet"},
    {{"A10"}, 0, 31.2, 62.5, 125, 125, 0, 250, 0, 600, "NVIDIA A10 data sheet"},
    {{"T4"}, 0, 8.1, 0, 65, 0, 0, 130, 0, 300, "NVIDIA T4 data sheet"},
    {{"MI325X"},
     163.4,
     163.4,
     653.7,
     1307.4,
     1307.4,
     2614.9,
     2614.9,
     0,
     6000,
     "AMD Instinct MI325X data sheet"},
    {{"MI300X"},
     163.4,
     163.4,
     653.7,
     1307.4,
     1307.4,
     2614.9,
     2614.9,
     0,
     5300,
     "AMD Instinct MI300X data sheet"},
    // XLA multiplies fp32 as bf16 on TPUs, unless a program asks for more: one figure for both.
    {{"v6", "Lite"}, 0, 918, 0, 0, 918, 0, 1836, 0, 1638, "Google Cloud TPU v6e documentation"},
    {{"v5", "Lite"}, 0, 197, 0, 0, 197, 0, 393, 0, 819, "Google Cloud TPU v5e documentation"},
};

// Returns whether a word stands in a name by itself: "A10" is not in "A100-SXM4".
bool HasDeviceWord(std::string_view name, std::string_view word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part(name[at - 1])) && (end == name.size() || !is_part(name[end])))
      return true;
  }
  return false;
}

const DevicePeak* FindPeak(std::string_view device) {
  const auto* found =
      std::find_if(std::begin(kDevicePeaks), std::end(kDevicePeaks), [&](const DevicePeak& each) {
        return HasDeviceWord(device, each.words[0]) &&
               (each.words[1].empty() || HasDeviceWord(device, each.words[1]));
      });
  return found == std::end(kDevicePeaks) ? nullptr : found;
}

double TeraOf(const DevicePeak& peak, results::Precision precision) {
  switch (precision) {
    case results::PRECISION_FP64:
      return peak.fp64;
    case results::PRECISION_FP32:
      return peak.fp32;
    case results::PRECISION_TF32:
      return peak.tf32;
    case results::PRECISION_BF16:
      return peak.bf16;
    case results::PRECISION_FP16:
      return peak.fp16;
    case results::PRECISION_FP8:
      return peak.fp8;
    case results::PRECISION_INT8:
      return peak.int8;
    case results::PRECISION_FP4:
      return peak.fp4;
    default:
      return 0;
  }
}

}  // namespace

std::optional<double> PeakFlopPerSecond(std::string_view device, results::Precision precision) {
  const DevicePeak* peak = FindPeak(device);
  const double tera = peak == nullptr ? 0 : TeraOf(*peak, precision);
  return tera == 0 ? std::nullopt : std::optional(tera * kTeraFlops);
}

std::optional<double> PeakGbPerSecond(const proto::Device& device) {
  constexpr double kKilobytes = 1e6;  // in a gigabyte
  if (device.memory_bandwidth_kb_per_s() != 0)
    return static_cast<double>(device.memory_bandwidth_kb_per_s()) / kKilobytes;
  const DevicePeak* peak = FindPeak(device.name());
  return peak == nullptr ? std::nullopt : std::optional(peak->gb_per_s);
}

const proto::Device* DescribedDevice(const Process& process, uint32_t id) {
  const proto::Device* found = process.FindDevice(id);
  if (found != nullptr || process.devices.empty()) return found;
  const proto::Device& first = process.devices.front();
  const bool are_alike =
      std::all_of(process.devices.begin(), process.devices.end(),
                  [&](const proto::Device& each) { return each.name() == first.name(); });
  return are_alike ? &first : nullptr;
}

std::string_view PeakSource(std::string_view device) {
  const DevicePeak* peak = FindPeak(device);
  return peak == nullptr ? std::string_view() : peak->source;
}

}  // namespace gpuprof::analysis
