// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See counters.h.

#include "launcher/gpu/counters.h"

#include "launcher/gpu/nvml_abi.h"

namespace gpuprof::launcher {
namespace {

constexpr CounterInfo Nvml(CounterId id, const char* name, const char* unit, uint32_t divisor = 1) {
  return {static_cast<uint32_t>(id), name, unit, divisor, "nvml"};
}

// Shares come as percent with fractions.
constexpr CounterInfo Gpm(nvml::GpmMetricId metric, const char* name, const char* unit = "%",
                          uint32_t divisor = 1000) {
  return {static_cast<uint32_t>(CounterId::kGpmFirst) + metric, name, unit, divisor, "gpm"};
}

constexpr CounterInfo Pm(CounterId id, const char* name) {
  return {static_cast<uint32_t>(id), name, "%", 1000, "pm"};
}

}  // namespace

const std::vector<CounterInfo>& CounterTable() {
  static const std::vector<CounterInfo> table = {
      Nvml(CounterId::kGpuUtilization, "gpu_utilization", "%"),
      Nvml(CounterId::kMemoryUtilization, "memory_utilization", "%"),
      Nvml(CounterId::kMemoryUsed, "memory_used", "bytes"),
      Nvml(CounterId::kTemperature, "temperature", "C"),
      Nvml(CounterId::kPower, "power", "W", 1000),
      Nvml(CounterId::kPowerInstant, "power_instant", "W", 1000),
      Nvml(CounterId::kSmClock, "sm_clock", "MHz"),
      Nvml(CounterId::kMemoryClock, "memory_clock", "MHz"),
      Nvml(CounterId::kClocksEventReasons, "clocks_event_reasons", "mask"),
      // Traffic: by GPM where the device has it, else by NVML.
      Nvml(CounterId::kPcieTx, "pcie_tx", "bytes/s"),
      Nvml(CounterId::kPcieRx, "pcie_rx", "bytes/s"),
      Nvml(CounterId::kNvlinkTx, "nvlink_tx", "bytes/s"),
      Nvml(CounterId::kNvlinkRx, "nvlink_rx", "bytes/s"),
      Gpm(nvml::kGpmGraphicsUtil, "graphics_active"),
      Gpm(nvml::kGpmSmUtil, "sm_active"),
      Gpm(nvml::kGpmSmOccupancy, "sm_occupancy"),
      Gpm(nvml::kGpmAnyTensorUtil, "tensor_active"),
      Gpm(nvml::kGpmHmmaTensorUtil, "tensor_hmma_active"),
      Gpm(nvml::kGpmImmaTensorUtil, "tensor_imma_active"),
      Gpm(nvml::kGpmDfmaTensorUtil, "tensor_dfma_active"),
      Gpm(nvml::kGpmDmmaTensorUtil, "tensor_dmma_active"),
      Gpm(nvml::kGpmDramBandwidthUtil, "dram_active"),
      Gpm(nvml::kGpmFp64Util, "fp64_active"),
      Gpm(nvml::kGpmFp32Util, "fp32_active"),
      Gpm(nvml::kGpmFp16Util, "fp16_active"),
      Gpm(nvml::kGpmIntegerUtil, "integer_active"),
      Gpm(nvml::kGpmPcieTxPerSecond, "pcie_tx", "bytes/s", 1),
      Gpm(nvml::kGpmPcieRxPerSecond, "pcie_rx", "bytes/s", 1),
      Gpm(nvml::kGpmNvlinkTxPerSecond, "nvlink_tx", "bytes/s", 1),
      Gpm(nvml::kGpmNvlinkRxPerSecond, "nvlink_rx", "bytes/s", 1),
      Pm(CounterId::kPmSmActive, "sm_active"),
      Pm(CounterId::kPmTensorActive, "tensor_active"),
      Pm(CounterId::kPmDramRead, "dram_read"),
      Pm(CounterId::kPmDramWrite, "dram_write"),
      Pm(CounterId::kPmInstructionsIssued, "instructions_issued"),
  };
  return table;
}

}  // namespace gpuprof::launcher
