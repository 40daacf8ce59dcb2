// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What we use of NVML's interface: numbers, layouts and the table of functions that nvml_library.h
// fills by name. Written down here because the library is loaded at run time and its header is not
// on every machine; tests/unit/launcher/nvml_abi_test.cc compares every line with nvml.h where
// there is one. Names as in NVIDIA's header without their prefix.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::launcher::nvml {

// nvmlReturn_t.
enum Result : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kLibRmVersionMismatch = 18,
  kInUse = 19,
  kArgumentVersionMismatch = 25,
  kUnknown = 999,
};

using Device = struct DeviceHandle*;
using GpmSample = struct GpmSampleHandle*;

enum Clock : int { kClockSm = 1, kClockMemory = 2 };
inline constexpr int kTemperatureGpu = 0;
enum PcieCounter : int { kPcieTxBytes = 0, kPcieRxBytes = 1 };  // in KB/s
inline constexpr unsigned kMigEnabled = 1;

inline constexpr unsigned kUuidBytes = 96;
inline constexpr unsigned kNameBytes = 96;
inline constexpr unsigned kDriverVersionBytes = 80;

struct Utilization {
  unsigned gpu;  // percent
  unsigned memory;
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;  // all ones: not available
  unsigned gpu_instance;
  unsigned compute_instance;
};

// Fields: one call for many values.
inline constexpr unsigned kFieldNvlinkTx = 138;  // KiB since the driver was loaded
inline constexpr unsigned kFieldNvlinkRx = 139;
inline constexpr unsigned kFieldPowerInstant = 186;  // mW
inline constexpr unsigned kAllLinks = ~0u;
enum ValueType : int {
  kDouble = 0,
  kUnsignedInt = 1,
  kUnsignedLong = 2,
  kUnsignedLongLong = 3,
  kSignedLongLong = 4,
  kSignedInt = 5,
  kUnsignedShort = 6,
};
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp_us;
  long long latency_us;
  int type;    // ValueType
  int result;  // Result
  unsigned char value[8];
};

// GPM: counters of the time between two samples, on Hopper and later.
inline constexpr unsigned kGpmVersion = 1;  // of both structs below
struct GpmSupport {
  unsigned version;
  unsigned is_supported;
};
struct GpmMetric {
  unsigned metric;
  int result;
  double value;
  const char* short_name;
  const char* long_name;
  const char* unit;
};
// The library's own struct is longer from release to release; it looks at `count` entries.
inline constexpr unsigned kMostGpmMetrics = 40;
struct GpmMetricsGet {
  unsigned version;
  unsigned count;
  GpmSample first;
  GpmSample second;
  GpmMetric metrics[kMostGpmMetrics];
};
enum GpmMetricId : unsigned {
  kGpmGraphicsUtil = 1,
  kGpmSmUtil = 2,
  kGpmSmOccupancy = 3,
  kGpmIntegerUtil = 4,
  kGpmAnyTensorUtil = 5,
  kGpmDfmaTensorUtil = 6,
  kGpmHmmaTensorUtil = 7,
  kGpmDmmaTensorUtil = 8,
  kGpmImmaTensorUtil = 9,
  kGpmDramBandwidthUtil = 10,
  kGpmFp64Util = 11,
  kGpmFp32Util = 12,
  kGpmFp16Util = 13,
  kGpmPcieTxPerSecond = 20,  // MiB/s, as the next three
  kGpmPcieRxPerSecond = 21,
  kGpmNvlinkRxPerSecond = 60,
  kGpmNvlinkTxPerSecond = 61,
};

// X(member, symbol, whether nothing works without, parameters).
#define GPUPROF_NVML_FUNCTIONS(X)                                                          \
  X(init, "nvmlInit_v2", true, ())                                                         \
  X(shutdown, "nvmlShutdown", true, ())                                                    \
  X(driver_version, "nvmlSystemGetDriverVersion", true, (char*, unsigned))                 \
  X(device_count, "nvmlDeviceGetCount_v2", true, (unsigned*))                              \
  X(device_by_index, "nvmlDeviceGetHandleByIndex_v2", true, (unsigned, Device*))           \
  X(device_name, "nvmlDeviceGetName", true, (Device, char*, unsigned))                     \
  X(device_uuid, "nvmlDeviceGetUUID", true, (Device, char*, unsigned))                     \
  X(max_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration", false, (Device, unsigned*)) \
  X(max_pcie_width, "nvmlDeviceGetMaxPcieLinkWidth", false, (Device, unsigned*))           \
  X(mig_mode, "nvmlDeviceGetMigMode", false, (Device, unsigned*, unsigned*))               \
  X(utilization, "nvmlDeviceGetUtilizationRates", false, (Device, Utilization*))           \
  X(memory_info, "nvmlDeviceGetMemoryInfo", false, (Device, Memory*))                      \
  X(clock_info, "nvmlDeviceGetClockInfo", false, (Device, int, unsigned*))                 \
  X(power_usage, "nvmlDeviceGetPowerUsage", false, (Device, unsigned*))                    \
  X(temperature, "nvmlDeviceGetTemperature", false, (Device, int, unsigned*))              \
  X(clocks_event_reasons, "nvmlDeviceGetCurrentClocksEventReasons", false,                 \
    (Device, unsigned long long*))                                                         \
  X(clocks_throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", false,           \
    (Device, unsigned long long*))                                                         \
  X(pcie_throughput, "nvmlDeviceGetPcieThroughput", false, (Device, int, unsigned*))       \
  X(field_values, "nvmlDeviceGetFieldValues", false, (Device, int, FieldValue*))           \
  X(compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3", false,                   \
    (Device, unsigned*, ProcessInfo*))                                                     \
  X(gpm_support, "nvmlGpmQueryDeviceSupport", false, (Device, GpmSupport*))                \
  X(gpm_sample_alloc, "nvmlGpmSampleAlloc", false, (GpmSample*))                           \
  X(gpm_sample_free, "nvmlGpmSampleFree", false, (GpmSample))                              \
  X(gpm_sample_get, "nvmlGpmSampleGet", false, (Device, GpmSample))                        \
  X(gpm_metrics_get, "nvmlGpmMetricsGet", false, (GpmMetricsGet*))

struct Functions {
#define GPUPROF_NVML_POINTER(member, symbol, required, parameters) int(*member) parameters;
  GPUPROF_NVML_FUNCTIONS(GPUPROF_NVML_POINTER)
#undef GPUPROF_NVML_POINTER
};

}  // namespace gpuprof::launcher::nvml
