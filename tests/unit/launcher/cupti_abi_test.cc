// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// launcher/gpu/cupti_abi.h, line by line, against NVIDIA's headers.

#include "launcher/gpu/cupti_abi.h"

#include <gtest/gtest.h>

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <type_traits>

namespace gpuprof::launcher::cupti {
namespace {

#define SAME(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs))
SAME(kSuccess, CUPTI_SUCCESS);
SAME(kInvalidParameter, CUPTI_ERROR_INVALID_PARAMETER);
SAME(kInvalidDevice, CUPTI_ERROR_INVALID_DEVICE);
SAME(kInvalidOperation, CUPTI_ERROR_INVALID_OPERATION);
SAME(kOutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY);
SAME(kHardware, CUPTI_ERROR_HARDWARE);
SAME(kNotCompatible, CUPTI_ERROR_NOT_COMPATIBLE);
SAME(kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME(kHardwareBusy, CUPTI_ERROR_HARDWARE_BUSY);
SAME(kNotSupported, CUPTI_ERROR_NOT_SUPPORTED);
SAME(kVirtualizedDeviceNotSupported, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME(kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME(kVirtualizedDeviceInsufficientPrivileges,
     CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME(kConfidentialComputingNotSupported, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME(kCmpDeviceNotSupported, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
SAME(kMigDeviceNotSupported, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
SAME(kSliDeviceNotSupported, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED);
SAME(kWslDeviceNotSupported, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
SAME(kInvalidChipName, CUPTI_ERROR_INVALID_CHIP_NAME);
SAME(kUnknown, CUPTI_ERROR_UNKNOWN);
SAME(kProfilerTypePmSampling, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME(kGpuSysclkInterval, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
SAME(kGpuTimeInterval, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME(kKeepOldest, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
SAME(kCounterDataFull, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);

#define SAME_STRUCT(ours, theirs)                           \
  static_assert(sizeof(ours) == sizeof(theirs));            \
  static_assert(kStructSize<ours> == theirs##_STRUCT_SIZE); \
  SAME_PLACE(ours, struct_size, theirs, structSize);        \
  SAME_PLACE(ours, priv, theirs, pPriv)
#define SAME_PLACE(ours, our_field, theirs, their_field)                     \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field)); \
  static_assert(sizeof(ours::our_field) == sizeof(theirs::their_field))

SAME_STRUCT(ProfilerInitializeParams, CUpti_Profiler_Initialize_Params);
SAME_STRUCT(ProfilerDeInitializeParams, CUpti_Profiler_DeInitialize_Params);
SAME_STRUCT(GetChipNameParams, CUpti_Device_GetChipName_Params);
SAME_PLACE(GetChipNameParams, device_index, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_PLACE(GetChipNameParams, chip_name, CUpti_Device_GetChipName_Params, pChipName);

#define AVAILABILITY CUpti_PmSampling_GetCounterAvailability_Params
SAME_STRUCT(GetCounterAvailabilityParams, CUpti_PmSampling_GetCounterAvailability_Params);
SAME_PLACE(GetCounterAvailabilityParams, device_index, AVAILABILITY, deviceIndex);
SAME_PLACE(GetCounterAvailabilityParams, image_size, AVAILABILITY, counterAvailabilityImageSize);
SAME_PLACE(GetCounterAvailabilityParams, image, AVAILABILITY, pCounterAvailabilityImage);

SAME_STRUCT(EnableParams, CUpti_PmSampling_Enable_Params);
SAME_PLACE(EnableParams, device_index, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME_PLACE(EnableParams, object, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
SAME_STRUCT(ObjectParams, CUpti_PmSampling_Disable_Params);
SAME_PLACE(ObjectParams, object, CUpti_PmSampling_Disable_Params, pPmSamplingObject);
SAME_STRUCT(ObjectParams, CUpti_PmSampling_Start_Params);
SAME_PLACE(ObjectParams, object, CUpti_PmSampling_Start_Params, pPmSamplingObject);
SAME_STRUCT(ObjectParams, CUpti_PmSampling_Stop_Params);
SAME_PLACE(ObjectParams, object, CUpti_PmSampling_Stop_Params, pPmSamplingObject);

#define SET_CONFIG CUpti_PmSampling_SetConfig_Params
SAME_STRUCT(SetConfigParams, CUpti_PmSampling_SetConfig_Params);
SAME_PLACE(SetConfigParams, object, SET_CONFIG, pPmSamplingObject);
SAME_PLACE(SetConfigParams, config_size, SET_CONFIG, configSize);
SAME_PLACE(SetConfigParams, config, SET_CONFIG, pConfig);
SAME_PLACE(SetConfigParams, hardware_buffer_size, SET_CONFIG, hardwareBufferSize);
SAME_PLACE(SetConfigParams, sampling_interval, SET_CONFIG, samplingInterval);
SAME_PLACE(SetConfigParams, trigger_mode, SET_CONFIG, triggerMode);
SAME_PLACE(SetConfigParams, append_mode, SET_CONFIG, hwBufferAppendMode);

#define DATA_SIZE CUpti_PmSampling_GetCounterDataSize_Params
SAME_STRUCT(GetCounterDataSizeParams, CUpti_PmSampling_GetCounterDataSize_Params);
SAME_PLACE(GetCounterDataSizeParams, object, DATA_SIZE, pPmSamplingObject);
SAME_PLACE(GetCounterDataSizeParams, metric_names, DATA_SIZE, pMetricNames);
SAME_PLACE(GetCounterDataSizeParams, metric_count, DATA_SIZE, numMetrics);
SAME_PLACE(GetCounterDataSizeParams, max_samples, DATA_SIZE, maxSamples);
SAME_PLACE(GetCounterDataSizeParams, counter_data_size, DATA_SIZE, counterDataSize);

#define IMAGE CUpti_PmSampling_CounterDataImage_Initialize_Params
SAME_STRUCT(CounterDataImageInitializeParams, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME_PLACE(CounterDataImageInitializeParams, object, IMAGE, pPmSamplingObject);
SAME_PLACE(CounterDataImageInitializeParams, counter_data_size, IMAGE, counterDataSize);
SAME_PLACE(CounterDataImageInitializeParams, counter_data, IMAGE, pCounterData);

#define DECODE CUpti_PmSampling_DecodeData_Params
SAME_STRUCT(DecodeDataParams, CUpti_PmSampling_DecodeData_Params);
SAME_PLACE(DecodeDataParams, object, DECODE, pPmSamplingObject);
SAME_PLACE(DecodeDataParams, counter_data, DECODE, pCounterDataImage);
SAME_PLACE(DecodeDataParams, counter_data_size, DECODE, counterDataImageSize);
SAME_PLACE(DecodeDataParams, stop_reason, DECODE, decodeStopReason);
SAME_PLACE(DecodeDataParams, overflow, DECODE, overflow);

#define INFO CUpti_PmSampling_GetCounterDataInfo_Params
SAME_STRUCT(GetCounterDataInfoParams, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME_PLACE(GetCounterDataInfoParams, counter_data, INFO, pCounterDataImage);
SAME_PLACE(GetCounterDataInfoParams, counter_data_size, INFO, counterDataImageSize);
SAME_PLACE(GetCounterDataInfoParams, total_samples, INFO, numTotalSamples);
SAME_PLACE(GetCounterDataInfoParams, populated_samples, INFO, numPopulatedSamples);
SAME_PLACE(GetCounterDataInfoParams, completed_samples, INFO, numCompletedSamples);

#define SAMPLE CUpti_PmSampling_CounterData_GetSampleInfo_Params
SAME_STRUCT(GetSampleInfoParams, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME_PLACE(GetSampleInfoParams, object, SAMPLE, pPmSamplingObject);
SAME_PLACE(GetSampleInfoParams, counter_data, SAMPLE, pCounterDataImage);
SAME_PLACE(GetSampleInfoParams, counter_data_size, SAMPLE, counterDataImageSize);
SAME_PLACE(GetSampleInfoParams, sample_index, SAMPLE, sampleIndex);
SAME_PLACE(GetSampleInfoParams, start_timestamp, SAMPLE, startTimestamp);
SAME_PLACE(GetSampleInfoParams, end_timestamp, SAMPLE, endTimestamp);

#define HOST CUpti_Profiler_Host_Initialize_Params
SAME_STRUCT(HostInitializeParams, CUpti_Profiler_Host_Initialize_Params);
SAME_PLACE(HostInitializeParams, profiler_type, HOST, profilerType);
SAME_PLACE(HostInitializeParams, chip_name, HOST, pChipName);
SAME_PLACE(HostInitializeParams, counter_availability, HOST, pCounterAvailabilityImage);
SAME_PLACE(HostInitializeParams, object, HOST, pHostObject);
SAME_STRUCT(HostDeinitializeParams, CUpti_Profiler_Host_Deinitialize_Params);
SAME_PLACE(HostDeinitializeParams, object, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);

#define METRICS CUpti_Profiler_Host_ConfigAddMetrics_Params
SAME_STRUCT(HostConfigAddMetricsParams, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME_PLACE(HostConfigAddMetricsParams, object, METRICS, pHostObject);
SAME_PLACE(HostConfigAddMetricsParams, metric_names, METRICS, ppMetricNames);
SAME_PLACE(HostConfigAddMetricsParams, metric_count, METRICS, numMetrics);

#define CONFIG_SIZE CUpti_Profiler_Host_GetConfigImageSize_Params
SAME_STRUCT(HostGetConfigImageSizeParams, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME_PLACE(HostGetConfigImageSizeParams, object, CONFIG_SIZE, pHostObject);
SAME_PLACE(HostGetConfigImageSizeParams, config_size, CONFIG_SIZE, configImageSize);

#define CONFIG CUpti_Profiler_Host_GetConfigImage_Params
SAME_STRUCT(HostGetConfigImageParams, CUpti_Profiler_Host_GetConfigImage_Params);
SAME_PLACE(HostGetConfigImageParams, object, CONFIG, pHostObject);
SAME_PLACE(HostGetConfigImageParams, config_size, CONFIG, configImageSize);
SAME_PLACE(HostGetConfigImageParams, config, CONFIG, pConfigImage);

#define PASSES CUpti_Profiler_Host_GetNumOfPasses_Params
SAME_STRUCT(HostGetNumOfPassesParams, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME_PLACE(HostGetNumOfPassesParams, config_size, PASSES, configImageSize);
SAME_PLACE(HostGetNumOfPassesParams, config, PASSES, pConfigImage);
SAME_PLACE(HostGetNumOfPassesParams, passes, PASSES, numOfPasses);

#define VALUES CUpti_Profiler_Host_EvaluateToGpuValues_Params
SAME_STRUCT(HostEvaluateToGpuValuesParams, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME_PLACE(HostEvaluateToGpuValuesParams, object, VALUES, pHostObject);
SAME_PLACE(HostEvaluateToGpuValuesParams, counter_data, VALUES, pCounterDataImage);
SAME_PLACE(HostEvaluateToGpuValuesParams, counter_data_size, VALUES, counterDataImageSize);
SAME_PLACE(HostEvaluateToGpuValuesParams, range_index, VALUES, rangeIndex);
SAME_PLACE(HostEvaluateToGpuValuesParams, metric_names, VALUES, ppMetricNames);
SAME_PLACE(HostEvaluateToGpuValuesParams, metric_count, VALUES, numMetrics);
SAME_PLACE(HostEvaluateToGpuValuesParams, values, VALUES, pMetricValues);

// The names are those of functions that take such a struct.
#define TAKES(function, theirs) \
  static_assert(std::is_same_v<decltype(&function), CUptiResult (*)(theirs*)>)
TAKES(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params);
TAKES(cuptiProfilerDeInitialize, CUpti_Profiler_DeInitialize_Params);
TAKES(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params);
TAKES(cuptiPmSamplingGetCounterAvailability, AVAILABILITY);
TAKES(cuptiPmSamplingEnable, CUpti_PmSampling_Enable_Params);
TAKES(cuptiPmSamplingDisable, CUpti_PmSampling_Disable_Params);
TAKES(cuptiPmSamplingSetConfig, SET_CONFIG);
TAKES(cuptiPmSamplingStart, CUpti_PmSampling_Start_Params);
TAKES(cuptiPmSamplingStop, CUpti_PmSampling_Stop_Params);
TAKES(cuptiPmSamplingDecodeData, DECODE);
TAKES(cuptiPmSamplingGetCounterDataSize, DATA_SIZE);
TAKES(cuptiPmSamplingCounterDataImageInitialize, IMAGE);
TAKES(cuptiPmSamplingGetCounterDataInfo, INFO);
TAKES(cuptiPmSamplingCounterDataGetSampleInfo, SAMPLE);
TAKES(cuptiProfilerHostInitialize, HOST);
TAKES(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params);
TAKES(cuptiProfilerHostConfigAddMetrics, METRICS);
TAKES(cuptiProfilerHostGetConfigImageSize, CONFIG_SIZE);
TAKES(cuptiProfilerHostGetConfigImage, CONFIG);
TAKES(cuptiProfilerHostGetNumOfPasses, PASSES);
TAKES(cuptiProfilerHostEvaluateToGpuValues, VALUES);

TEST(CuptiAbi, IsNvidias) { SUCCEED() << "all of it while compiling"; }

}  // namespace
}  // namespace gpuprof::launcher::cupti
