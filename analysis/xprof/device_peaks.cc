// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_peaks.h.

#include "analysis/xprof/device_peaks.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace gpuprof::analysis::xprof {
namespace {

struct Capabilities {
  double clock_ghz = 0;
  uint32_t cores = 0;
  uint64_t memory_bandwidth = 0;
  int major = 0, minor = 0;
  std::string_view vendor, name;
};

Capabilities CapabilitiesOf(const Plane& gpu) {
  Capabilities found;
  for (const Stat& stat : gpu.stats) {
    const uint64_t number = stat.Whole();
    if (stat.key == StatKey::kClockRate) found.clock_ghz = static_cast<double>(number) / 1000000.0;
    if (stat.key == StatKey::kCoreCount) found.cores = static_cast<uint32_t>(number);
    if (stat.key == StatKey::kMemoryBandwidth) found.memory_bandwidth = number;
    if (stat.key == StatKey::kComputeMajor) found.major = static_cast<int>(number);
    if (stat.key == StatKey::kComputeMinor) found.minor = static_cast<int>(number);
    if (stat.key == StatKey::kDeviceVendor) found.vendor = stat.Text();
    if (stat.key == StatKey::kGpuDeviceName) found.name = stat.Text();
  }
  return found;
}

// The largest of the dense rates of fp32, tf32 and fp16, on cores and on tensor cores: operations
// of a multiprocessor in a cycle.
struct NvidiaRate {
  int capability;  // 1000 * major + 10 * minor
  double operations;
};
constexpr NvidiaRate kNvidia[] = {{2000, 64},   {3000, 384},  {5000, 256},  {6000, 256},
                                  {6010, 256},  {7000, 1024}, {7050, 1024}, {8000, 2048},
                                  {8060, 1024}, {8090, 1024}, {9000, 4096}, {10000, 8192}};

double NvidiaOperations(const Capabilities& gpu) {
  const int capability = gpu.major * 1000 + gpu.minor * 10;
  const NvidiaRate* found = std::begin(kNvidia);
  for (const NvidiaRate& rate : kNvidia)
    if (rate.capability <= capability) found = &rate;
  return found->operations;
}

struct AmdRate {
  std::string_view name;
  double operations;
  double shared_bytes;
};
constexpr AmdRate kAmd[] = {
    {"gfx908", 1024, 128}, {"gfx90a", 1024, 128}, {"gfx942", 2048, 128}, {"gfx950", 4096, 256}};

// "gfx942", as the plane tells it, or as the capability of the only such GPU tells it.
std::string_view AmdName(const Capabilities& gpu) {
  constexpr std::string_view kBegin = "gfx", kHex = "0123456789abcdefABCDEF";
  const std::string_view name = gpu.name;
  if (name.starts_with(kBegin) && name.size() >= 6 &&
      name.find_first_not_of(kHex, kBegin.size()) == std::string_view::npos)
    return name;
  if (gpu.major == 9 && gpu.minor == 4) return "gfx942";
  if (gpu.major == 9 && gpu.minor == 5) return "gfx950";
  return {};
}

const AmdRate* AmdRateOf(const Capabilities& gpu) {
  const auto at =
      std::find_if(std::begin(kAmd), std::end(kAmd),
                   [name = AmdName(gpu)](const AmdRate& rate) { return rate.name == name; });
  return at == std::end(kAmd) ? nullptr : at;
}

std::string NvidiaType(const Capabilities& gpu) {
  const char* family = nullptr;
  switch (gpu.major) {
    case 2:
      family = "Fermi";
      break;
    case 3:
      family = "Kepler";
      break;
    case 5:
      family = "Maxwell";
      break;
    case 6:
      family = "Pascal";
      break;
    case 7:
      family = gpu.minor < 5 ? "Volta" : "Turing";
      break;
    case 8:
      family = gpu.minor < 9 ? "Ampere" : "Ada Lovelace";
      break;
    case 9:
      family = "Hopper";
      break;
    case 10:
      family = "Blackwell";
      break;
    default:
      return "Nvidia GPU";
  }
  return std::string("Nvidia GPU (") + family + ")";
}

std::string AmdType(const Capabilities& gpu) {
  if (const std::string_view name = AmdName(gpu); !name.empty())
    return "AMD GPU - " + std::string(name);
  if (gpu.major >= 9 && gpu.major <= 11)
    return "AMD GPU - gfx-" + std::to_string(gpu.major) + "XX series";
  return "AMD GPU";
}

double StatOf(const Plane& gpu, StatKey key) {
  const Stat* const stat = gpu.Find(key);
  return stat == nullptr ? 0 : stat->Double();
}

}  // namespace

std::string DeviceType(const Plane& gpu) {
  const Capabilities found = CapabilitiesOf(gpu);
  if (found.vendor == "Nvidia") return NvidiaType(found);
  if (found.vendor == "AMD") return AmdType(found);
  return "GPU";
}

DevicePeaks PeaksOf(const Plane& gpu) {
  const Capabilities found = CapabilitiesOf(gpu);
  double operations = 0, shared_bytes = 0;
  if (found.vendor == "Nvidia") {
    operations = NvidiaOperations(found);
    shared_bytes = found.major <= 2 ? 64 : 256;
  } else if (const AmdRate* rate = AmdRateOf(found); found.vendor == "AMD" && rate != nullptr) {
    operations = rate->operations;
    shared_bytes = rate->shared_bytes;
  }
  DevicePeaks peaks;
  peaks.teraflops = StatOf(gpu, StatKey::kPeakTeraflops);
  if (peaks.teraflops <= 0) peaks.teraflops = found.cores * (operations * found.clock_ghz / 1E3);
  peaks.memory_gigabytes = static_cast<double>(found.memory_bandwidth) / 1E9;
  peaks.shared_gigabytes = StatOf(gpu, StatKey::kPeakSramWrite);
  if (peaks.shared_gigabytes <= 0)
    peaks.shared_gigabytes = found.cores * (shared_bytes * found.clock_ghz * 1E9 / 1E9);
  return peaks;
}

}  // namespace gpuprof::analysis::xprof
