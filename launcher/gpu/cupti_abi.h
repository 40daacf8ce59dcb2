// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the sampler uses of CUPTI's binary interface: PM sampling, the host side that evaluates its
// metrics, and the clock that its times are on. Written down here so that gpuprof builds without a
// CUDA toolkit; a test compares every line with NVIDIA's headers where those are. Names follow
// CUPTI's.
//
// Every call takes one struct of parameters whose first field is its size as far as the caller
// knows it: up to the end of its last field, without padding. The second is null.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::launcher::cupti {

// CUptiResult.
enum Result : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidDevice = 2,
  kInvalidOperation = 7,
  kOutOfMemory = 8,
  kHardware = 9,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kHardwareBusy = 26,
  kNotSupported = 27,
  kVirtualizedDeviceNotSupported = 33,
  kInsufficientPrivileges = 35,
  kVirtualizedDeviceInsufficientPrivileges = 40,
  kConfidentialComputingNotSupported = 41,
  kCmpDeviceNotSupported = 42,
  kMigDeviceNotSupported = 43,
  kSliDeviceNotSupported = 44,
  kWslDeviceNotSupported = 45,
  kInvalidChipName = 46,
  kUnknown = 999,
};

// CUpti_ProfilerType.
inline constexpr int kProfilerTypePmSampling = 1;

// CUpti_PmSampling_TriggerMode.
enum TriggerMode : int {
  kGpuSysclkInterval = 0,  // in clocks of a frequency that varies
  kGpuTimeInterval = 1,    // in ns; not on Turing and GA100
};

// CUpti_PmSampling_HardwareBuffer_AppendMode: what is new is left out, and told as overflow.
inline constexpr int kKeepOldest = 0;

// CUpti_PmSampling_DecodeStopReason.
inline constexpr int kCounterDataFull = 1;

using PmSamplingObject = struct PmSamplingHandle*;
using HostObject = struct HostHandle*;

// Specialised for each struct of parameters.
template <typename Params>
inline constexpr size_t kStructSize = 0;
#define GPUPROF_CUPTI_LAST_FIELD(Type, field)                                              \
  template <>                                                                              \
  inline constexpr size_t kStructSize<Type> = offsetof(Type, field) + sizeof(Type::field); \
  static_assert(offsetof(Type, priv) == sizeof(size_t))

struct ProfilerInitializeParams {
  size_t struct_size;
  void* priv;
};
GPUPROF_CUPTI_LAST_FIELD(ProfilerInitializeParams, priv);

struct ProfilerDeInitializeParams {
  size_t struct_size;
  void* priv;
};
GPUPROF_CUPTI_LAST_FIELD(ProfilerDeInitializeParams, priv);

struct GetChipNameParams {
  size_t struct_size;
  void* priv;
  size_t device_index;
  const char* chip_name;  // out
};
GPUPROF_CUPTI_LAST_FIELD(GetChipNameParams, chip_name);

struct GetCounterAvailabilityParams {
  size_t struct_size;
  void* priv;
  size_t device_index;
  size_t image_size;  // in and out: told where `image` is null
  uint8_t* image;
};
GPUPROF_CUPTI_LAST_FIELD(GetCounterAvailabilityParams, image);

struct EnableParams {
  size_t struct_size;
  void* priv;
  size_t device_index;
  PmSamplingObject object;  // out
};
GPUPROF_CUPTI_LAST_FIELD(EnableParams, object);

// Of cuptiPmSamplingDisable, Start and Stop.
struct ObjectParams {
  size_t struct_size;
  void* priv;
  PmSamplingObject object;
};
GPUPROF_CUPTI_LAST_FIELD(ObjectParams, object);

struct SetConfigParams {
  size_t struct_size;
  void* priv;
  PmSamplingObject object;
  size_t config_size;
  const uint8_t* config;
  size_t hardware_buffer_size;
  uint64_t sampling_interval;
  int trigger_mode;
  int append_mode;
};
GPUPROF_CUPTI_LAST_FIELD(SetConfigParams, append_mode);
// In releases before 12.8, which take no other size; it means kKeepOldest.
inline constexpr size_t kSetConfigSizeWithoutMode = offsetof(SetConfigParams, append_mode);

struct GetCounterDataSizeParams {
  size_t struct_size;
  void* priv;
  PmSamplingObject object;
  const char** metric_names;
  size_t metric_count;
  uint32_t max_samples;
  size_t counter_data_size;  // out
};
GPUPROF_CUPTI_LAST_FIELD(GetCounterDataSizeParams, counter_data_size);

struct CounterDataImageInitializeParams {
  size_t struct_size;
  void* priv;
  PmSamplingObject object;
  size_t counter_data_size;
  uint8_t* counter_data;
};
GPUPROF_CUPTI_LAST_FIELD(CounterDataImageInitializeParams, counter_data);

struct DecodeDataParams {
  size_t struct_size;
  void* priv;
  PmSamplingObject object;
  uint8_t* counter_data;
  size_t counter_data_size;
  int stop_reason;   // out
  uint8_t overflow;  // out
};
GPUPROF_CUPTI_LAST_FIELD(DecodeDataParams, overflow);

struct GetCounterDataInfoParams {
  size_t struct_size;
  void* priv;
  const uint8_t* counter_data;
  size_t counter_data_size;
  size_t total_samples;  // out, as the next two
  size_t populated_samples;
  size_t completed_samples;
};
GPUPROF_CUPTI_LAST_FIELD(GetCounterDataInfoParams, completed_samples);

struct GetSampleInfoParams {
  size_t struct_size;
  void* priv;
  PmSamplingObject object;
  const uint8_t* counter_data;
  size_t counter_data_size;
  size_t sample_index;
  uint64_t start_timestamp;  // out, as the next
  uint64_t end_timestamp;
};
GPUPROF_CUPTI_LAST_FIELD(GetSampleInfoParams, end_timestamp);

struct HostInitializeParams {
  size_t struct_size;
  void* priv;
  int profiler_type;
  const char* chip_name;
  const uint8_t* counter_availability;  // of chips that are newer than the library
  HostObject object;                    // out
};
GPUPROF_CUPTI_LAST_FIELD(HostInitializeParams, object);

struct HostDeinitializeParams {
  size_t struct_size;
  void* priv;
  HostObject object;
};
GPUPROF_CUPTI_LAST_FIELD(HostDeinitializeParams, object);

struct HostConfigAddMetricsParams {
  size_t struct_size;
  void* priv;
  HostObject object;
  const char** metric_names;
  size_t metric_count;
};
GPUPROF_CUPTI_LAST_FIELD(HostConfigAddMetricsParams, metric_count);

struct HostGetConfigImageSizeParams {
  size_t struct_size;
  void* priv;
  HostObject object;
  size_t config_size;  // out
};
GPUPROF_CUPTI_LAST_FIELD(HostGetConfigImageSizeParams, config_size);

struct HostGetConfigImageParams {
  size_t struct_size;
  void* priv;
  HostObject object;
  size_t config_size;
  uint8_t* config;
};
GPUPROF_CUPTI_LAST_FIELD(HostGetConfigImageParams, config);

struct HostGetNumOfPassesParams {
  size_t struct_size;
  void* priv;
  size_t config_size;
  uint8_t* config;
  size_t passes;  // out
};
GPUPROF_CUPTI_LAST_FIELD(HostGetNumOfPassesParams, passes);

struct HostEvaluateToGpuValuesParams {
  size_t struct_size;
  void* priv;
  HostObject object;
  const uint8_t* counter_data;
  size_t counter_data_size;
  size_t range_index;  // the sample
  const char** metric_names;
  size_t metric_count;
  double* values;  // one for each metric
};
GPUPROF_CUPTI_LAST_FIELD(HostEvaluateToGpuValuesParams, values);
#undef GPUPROF_CUPTI_LAST_FIELD

// Parameters of which only the size is filled in.
template <typename Params>
Params Make() {
  static_assert(kStructSize<Params> != 0);
  Params params = {};
  params.struct_size = kStructSize<Params>;
  return params;
}

// X(member, symbol, parameter). All are needed: PM sampling came with CUDA 12.6.
#define GPUPROF_CUPTI_FUNCTIONS(X)                                                          \
  X(get_version, "cuptiGetVersion", uint32_t*)                                              \
  X(get_timestamp, "cuptiGetTimestamp", uint64_t*)                                          \
  X(profiler_initialize, "cuptiProfilerInitialize", ProfilerInitializeParams*)              \
  X(profiler_deinitialize, "cuptiProfilerDeInitialize", ProfilerDeInitializeParams*)        \
  X(get_chip_name, "cuptiDeviceGetChipName", GetChipNameParams*)                            \
  X(get_counter_availability, "cuptiPmSamplingGetCounterAvailability",                      \
    GetCounterAvailabilityParams*)                                                          \
  X(enable, "cuptiPmSamplingEnable", EnableParams*)                                         \
  X(disable, "cuptiPmSamplingDisable", ObjectParams*)                                       \
  X(set_config, "cuptiPmSamplingSetConfig", SetConfigParams*)                               \
  X(start, "cuptiPmSamplingStart", ObjectParams*)                                           \
  X(stop, "cuptiPmSamplingStop", ObjectParams*)                                             \
  X(decode_data, "cuptiPmSamplingDecodeData", DecodeDataParams*)                            \
  X(get_counter_data_size, "cuptiPmSamplingGetCounterDataSize", GetCounterDataSizeParams*)  \
  X(counter_data_image_initialize, "cuptiPmSamplingCounterDataImageInitialize",             \
    CounterDataImageInitializeParams*)                                                      \
  X(get_counter_data_info, "cuptiPmSamplingGetCounterDataInfo", GetCounterDataInfoParams*)  \
  X(get_sample_info, "cuptiPmSamplingCounterDataGetSampleInfo", GetSampleInfoParams*)       \
  X(host_initialize, "cuptiProfilerHostInitialize", HostInitializeParams*)                  \
  X(host_deinitialize, "cuptiProfilerHostDeinitialize", HostDeinitializeParams*)            \
  X(host_add_metrics, "cuptiProfilerHostConfigAddMetrics", HostConfigAddMetricsParams*)     \
  X(host_config_size, "cuptiProfilerHostGetConfigImageSize", HostGetConfigImageSizeParams*) \
  X(host_config, "cuptiProfilerHostGetConfigImage", HostGetConfigImageParams*)              \
  X(host_passes, "cuptiProfilerHostGetNumOfPasses", HostGetNumOfPassesParams*)              \
  X(host_evaluate, "cuptiProfilerHostEvaluateToGpuValues", HostEvaluateToGpuValuesParams*)

struct Functions {
#define GPUPROF_CUPTI_POINTER(member, symbol, parameter) int (*member)(parameter);
  GPUPROF_CUPTI_FUNCTIONS(GPUPROF_CUPTI_POINTER)
#undef GPUPROF_CUPTI_POINTER
};

inline constexpr const char* kFunctionNames[] = {
#define GPUPROF_CUPTI_NAME(member, symbol, parameter) symbol,
    GPUPROF_CUPTI_FUNCTIONS(GPUPROF_CUPTI_NAME)
#undef GPUPROF_CUPTI_NAME
};

}  // namespace gpuprof::launcher::cupti
