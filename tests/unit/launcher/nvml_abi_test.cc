// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// launcher/gpu/nvml_abi.h, line by line, against NVIDIA's header.

#include "launcher/gpu/nvml_abi.h"

#include <gtest/gtest.h>

#include <nvml.h>

#include <type_traits>

namespace gpuprof::launcher::nvml {
namespace {

#define SAME(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs))
SAME(kSuccess, NVML_SUCCESS);
SAME(kUninitialized, NVML_ERROR_UNINITIALIZED);
SAME(kInvalidArgument, NVML_ERROR_INVALID_ARGUMENT);
SAME(kNotSupported, NVML_ERROR_NOT_SUPPORTED);
SAME(kNoPermission, NVML_ERROR_NO_PERMISSION);
SAME(kNotFound, NVML_ERROR_NOT_FOUND);
SAME(kInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
SAME(kDriverNotLoaded, NVML_ERROR_DRIVER_NOT_LOADED);
SAME(kTimeout, NVML_ERROR_TIMEOUT);
SAME(kLibraryNotFound, NVML_ERROR_LIBRARY_NOT_FOUND);
SAME(kFunctionNotFound, NVML_ERROR_FUNCTION_NOT_FOUND);
SAME(kGpuIsLost, NVML_ERROR_GPU_IS_LOST);
SAME(kResetRequired, NVML_ERROR_RESET_REQUIRED);
SAME(kInUse, NVML_ERROR_IN_USE);
SAME(kLibRmVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
SAME(kArgumentVersionMismatch, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
SAME(kUnknown, NVML_ERROR_UNKNOWN);

SAME(kClockSm, NVML_CLOCK_SM);
SAME(kClockMemory, NVML_CLOCK_MEM);
SAME(kTemperatureGpu, NVML_TEMPERATURE_GPU);
SAME(kPcieTxBytes, NVML_PCIE_UTIL_TX_BYTES);
SAME(kPcieRxBytes, NVML_PCIE_UTIL_RX_BYTES);
SAME(kMigEnabled, NVML_DEVICE_MIG_ENABLE);
static_assert(kUuidBytes >= NVML_DEVICE_UUID_V2_BUFFER_SIZE);
static_assert(kNameBytes >= NVML_DEVICE_NAME_V2_BUFFER_SIZE);
static_assert(kDriverVersionBytes >= NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);

#define SAME_PLACE(ours, our_field, theirs, their_field)                     \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field)); \
  static_assert(sizeof(ours::our_field) == sizeof(theirs::their_field))

static_assert(sizeof(Utilization) == sizeof(nvmlUtilization_t));
SAME_PLACE(Utilization, gpu, nvmlUtilization_t, gpu);
SAME_PLACE(Utilization, memory, nvmlUtilization_t, memory);
static_assert(sizeof(Memory) == sizeof(nvmlMemory_t));
SAME_PLACE(Memory, total, nvmlMemory_t, total);
SAME_PLACE(Memory, free, nvmlMemory_t, free);
SAME_PLACE(Memory, used, nvmlMemory_t, used);
static_assert(sizeof(ProcessInfo) == sizeof(nvmlProcessInfo_t));
SAME_PLACE(ProcessInfo, pid, nvmlProcessInfo_t, pid);
SAME_PLACE(ProcessInfo, used_bytes, nvmlProcessInfo_t, usedGpuMemory);
SAME_PLACE(ProcessInfo, gpu_instance, nvmlProcessInfo_t, gpuInstanceId);
SAME_PLACE(ProcessInfo, compute_instance, nvmlProcessInfo_t, computeInstanceId);
static_assert(sizeof(FieldValue) == sizeof(nvmlFieldValue_t));
SAME_PLACE(FieldValue, field, nvmlFieldValue_t, fieldId);
SAME_PLACE(FieldValue, scope, nvmlFieldValue_t, scopeId);
SAME_PLACE(FieldValue, timestamp_us, nvmlFieldValue_t, timestamp);
SAME_PLACE(FieldValue, latency_us, nvmlFieldValue_t, latencyUsec);
SAME_PLACE(FieldValue, type, nvmlFieldValue_t, valueType);
SAME_PLACE(FieldValue, result, nvmlFieldValue_t, nvmlReturn);
SAME_PLACE(FieldValue, value, nvmlFieldValue_t, value);
SAME(kFieldNvlinkTx, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX);
SAME(kFieldNvlinkRx, NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX);
SAME(kFieldPowerInstant, NVML_FI_DEV_POWER_INSTANT);
SAME(kDouble, NVML_VALUE_TYPE_DOUBLE);
SAME(kUnsignedInt, NVML_VALUE_TYPE_UNSIGNED_INT);
SAME(kUnsignedLong, NVML_VALUE_TYPE_UNSIGNED_LONG);
SAME(kUnsignedLongLong, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
SAME(kSignedLongLong, NVML_VALUE_TYPE_SIGNED_LONG_LONG);
SAME(kSignedInt, NVML_VALUE_TYPE_SIGNED_INT);
SAME(kUnsignedShort, NVML_VALUE_TYPE_UNSIGNED_SHORT);

SAME(kGpmVersion, NVML_GPM_METRICS_GET_VERSION);
SAME(kGpmVersion, NVML_GPM_SUPPORT_VERSION);
static_assert(sizeof(GpmSupport) == sizeof(nvmlGpmSupport_t));
SAME_PLACE(GpmSupport, version, nvmlGpmSupport_t, version);
SAME_PLACE(GpmSupport, is_supported, nvmlGpmSupport_t, isSupportedDevice);
static_assert(sizeof(GpmMetric) == sizeof(nvmlGpmMetric_t));
SAME_PLACE(GpmMetric, metric, nvmlGpmMetric_t, metricId);
SAME_PLACE(GpmMetric, result, nvmlGpmMetric_t, nvmlReturn);
SAME_PLACE(GpmMetric, value, nvmlGpmMetric_t, value);
SAME_PLACE(GpmMetric, short_name, nvmlGpmMetric_t, metricInfo.shortName);
SAME_PLACE(GpmMetric, long_name, nvmlGpmMetric_t, metricInfo.longName);
SAME_PLACE(GpmMetric, unit, nvmlGpmMetric_t, metricInfo.unit);
SAME_PLACE(GpmMetricsGet, version, nvmlGpmMetricsGet_t, version);
SAME_PLACE(GpmMetricsGet, count, nvmlGpmMetricsGet_t, numMetrics);
SAME_PLACE(GpmMetricsGet, first, nvmlGpmMetricsGet_t, sample1);
SAME_PLACE(GpmMetricsGet, second, nvmlGpmMetricsGet_t, sample2);
static_assert(offsetof(GpmMetricsGet, metrics) == offsetof(nvmlGpmMetricsGet_t, metrics));
static_assert(kMostGpmMetrics <= NVML_GPM_METRIC_MAX);

// But for kGpmDmmaTensorUtil, which headers of CUDA 12 do not name.
SAME(kGpmGraphicsUtil, NVML_GPM_METRIC_GRAPHICS_UTIL);
SAME(kGpmSmUtil, NVML_GPM_METRIC_SM_UTIL);
SAME(kGpmSmOccupancy, NVML_GPM_METRIC_SM_OCCUPANCY);
SAME(kGpmIntegerUtil, NVML_GPM_METRIC_INTEGER_UTIL);
SAME(kGpmAnyTensorUtil, NVML_GPM_METRIC_ANY_TENSOR_UTIL);
SAME(kGpmDfmaTensorUtil, NVML_GPM_METRIC_DFMA_TENSOR_UTIL);
SAME(kGpmHmmaTensorUtil, NVML_GPM_METRIC_HMMA_TENSOR_UTIL);
SAME(kGpmImmaTensorUtil, NVML_GPM_METRIC_IMMA_TENSOR_UTIL);
SAME(kGpmDramBandwidthUtil, NVML_GPM_METRIC_DRAM_BW_UTIL);
SAME(kGpmFp64Util, NVML_GPM_METRIC_FP64_UTIL);
SAME(kGpmFp32Util, NVML_GPM_METRIC_FP32_UTIL);
SAME(kGpmFp16Util, NVML_GPM_METRIC_FP16_UTIL);
SAME(kGpmPcieTxPerSecond, NVML_GPM_METRIC_PCIE_TX_PER_SEC);
SAME(kGpmPcieRxPerSecond, NVML_GPM_METRIC_PCIE_RX_PER_SEC);
SAME(kGpmNvlinkRxPerSecond, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC);
SAME(kGpmNvlinkTxPerSecond, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC);

// Enumerations are ints where they are passed, structs and handles are pointers.
template <typename Ours, typename Theirs>
constexpr bool SamePlaceOfParameter() {
  if constexpr (std::is_pointer_v<Theirs>) return std::is_pointer_v<Ours>;
  return std::is_integral_v<Ours> && sizeof(Ours) == sizeof(Theirs);
}
template <typename... Ours, typename... Theirs>
constexpr bool SameCall(int (*)(Ours...), nvmlReturn_t (*)(Theirs...)) {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs)) {
    return (SamePlaceOfParameter<Ours, Theirs>() && ...);
  }
  return false;
}
#define SAME_CALL(member, function)                                         \
  static_assert(SameCall(static_cast<decltype(Functions::member)>(nullptr), \
                         static_cast<std::add_pointer_t<decltype(function)>>(nullptr)))

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
SAME_CALL(init, nvmlInit_v2);
SAME_CALL(shutdown, nvmlShutdown);
SAME_CALL(driver_version, nvmlSystemGetDriverVersion);
SAME_CALL(device_count, nvmlDeviceGetCount_v2);
SAME_CALL(device_by_index, nvmlDeviceGetHandleByIndex_v2);
SAME_CALL(device_name, nvmlDeviceGetName);
SAME_CALL(device_uuid, nvmlDeviceGetUUID);
SAME_CALL(max_pcie_generation, nvmlDeviceGetMaxPcieLinkGeneration);
SAME_CALL(max_pcie_width, nvmlDeviceGetMaxPcieLinkWidth);
SAME_CALL(mig_mode, nvmlDeviceGetMigMode);
SAME_CALL(utilization, nvmlDeviceGetUtilizationRates);
SAME_CALL(memory_info, nvmlDeviceGetMemoryInfo);
SAME_CALL(clock_info, nvmlDeviceGetClockInfo);
SAME_CALL(power_usage, nvmlDeviceGetPowerUsage);
SAME_CALL(temperature, nvmlDeviceGetTemperature);
SAME_CALL(clocks_event_reasons, nvmlDeviceGetCurrentClocksEventReasons);
SAME_CALL(clocks_throttle_reasons, nvmlDeviceGetCurrentClocksThrottleReasons);
SAME_CALL(pcie_throughput, nvmlDeviceGetPcieThroughput);
SAME_CALL(field_values, nvmlDeviceGetFieldValues);
SAME_CALL(compute_processes, nvmlDeviceGetComputeRunningProcesses_v3);
SAME_CALL(gpm_support, nvmlGpmQueryDeviceSupport);
SAME_CALL(gpm_sample_alloc, nvmlGpmSampleAlloc);
SAME_CALL(gpm_sample_free, nvmlGpmSampleFree);
SAME_CALL(gpm_sample_get, nvmlGpmSampleGet);
SAME_CALL(gpm_metrics_get, nvmlGpmMetricsGet);

TEST(NvmlAbi, IsThatOfTheHeader) { SUCCEED() << "what differs does not compile"; }

}  // namespace
}  // namespace gpuprof::launcher::nvml
