// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The device's side: whose the counters are, and what their buffer holds. See pm.h.

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/pm.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

struct CUpti_PmSampling_Object {
  int device = 0;
  bool has_config = false;
  bool is_started = false;
  uint64_t interval_ns = 0;
  uint64_t begun = 0;    // of the first sample not yet decoded, the device's clock
  uint64_t number = 0;   // its number
  uint64_t decodes = 0;  // calls so far
};

namespace {

using fake_gpu_cupti::ImageAt;
using fake_gpu_cupti::PmCall;
using fake_gpu_cupti::PmGate;
using fake_gpu_cupti::PmImageHeader;
using fake_gpu_cupti::PmViolation;

constexpr char kAvailability[] = "availability";
// The system clock of the simulation.
constexpr uint64_t kSysclkMhz = 2000;

std::mutex g_lock;
bool g_initialized = false;
std::map<int, CUpti_PmSampling_Object*> g_objects;  // by device

bool IsDevice(size_t index) { return index < static_cast<size_t>(fake_gpu::TheScript().devices); }

// Null where it is none, and a violation.
CUpti_PmSampling_Object* Find(CUpti_PmSampling_Object* object, const char* function) {
  for (const auto& [device, each] : g_objects) {
    if (each == object) return object;
  }
  PmViolation((std::string(function) + " of an object that is none").c_str());
  return nullptr;
}

// What every call before the counters are had may meet.
CUptiResult Begin(const char* function, size_t index) {
  if (!g_initialized) {
    PmViolation((std::string(function) + " before cuptiProfilerInitialize").c_str());
    return PmCall(function, static_cast<int>(index), CUPTI_ERROR_NOT_INITIALIZED);
  }
  if (!IsDevice(index)) return PmCall(function, -1, CUPTI_ERROR_INVALID_DEVICE);
  return CUPTI_SUCCESS;
}

}  // namespace

#define PM_BEGIN(function, params, type)                                                 \
  if (params == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;                           \
  if (const CUptiResult gate = PmGate(function, params->structSize, type##_STRUCT_SIZE); \
      gate != CUPTI_SUCCESS || params->pPriv != nullptr)                                 \
    return gate != CUPTI_SUCCESS ? gate : CUPTI_ERROR_INVALID_PARAMETER;                 \
  const std::lock_guard lock(g_lock)

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  PM_BEGIN("cuptiProfilerInitialize", params, CUpti_Profiler_Initialize_Params);
  g_initialized = true;
  return PmCall("cuptiProfilerInitialize", -1, CUPTI_SUCCESS);
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* params) {
  PM_BEGIN("cuptiProfilerDeInitialize", params, CUpti_Profiler_DeInitialize_Params);
  if (!g_objects.empty()) PmViolation("the profiler ends while counters are had");
  g_initialized = false;
  return PmCall("cuptiProfilerDeInitialize", -1, CUPTI_SUCCESS);
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  PM_BEGIN("cuptiDeviceGetChipName", params, CUpti_Device_GetChipName_Params);
  const CUptiResult result = Begin("cuptiDeviceGetChipName", params->deviceIndex);
  if (result == CUPTI_SUCCESS) params->pChipName = "SIM100";
  return result;
}

CUptiResult cuptiPmSamplingGetCounterAvailability(
    CUpti_PmSampling_GetCounterAvailability_Params* params) {
  const char* const function = "cuptiPmSamplingGetCounterAvailability";
  PM_BEGIN(function, params, CUpti_PmSampling_GetCounterAvailability_Params);
  if (const CUptiResult result = Begin(function, params->deviceIndex); result != CUPTI_SUCCESS)
    return result;
  const auto device = static_cast<int>(params->deviceIndex);
  if (!fake_gpu::TheScript().pm)
    return PmCall(function, device, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  if (params->pCounterAvailabilityImage == nullptr) {
    params->counterAvailabilityImageSize = sizeof kAvailability;
    return PmCall(function, device, CUPTI_SUCCESS);
  }
  if (params->counterAvailabilityImageSize < sizeof kAvailability)
    return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  memcpy(params->pCounterAvailabilityImage, kAvailability, sizeof kAvailability);
  return PmCall(function, device, CUPTI_SUCCESS);
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  const char* const function = "cuptiPmSamplingEnable";
  PM_BEGIN(function, params, CUpti_PmSampling_Enable_Params);
  if (const CUptiResult result = Begin(function, params->deviceIndex); result != CUPTI_SUCCESS)
    return result;
  const auto device = static_cast<int>(params->deviceIndex);
  if (!fake_gpu::TheScript().pm)
    return PmCall(function, device, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  if (g_objects.count(device) != 0) return PmCall(function, device, CUPTI_ERROR_HARDWARE_BUSY);
  params->pPmSamplingObject = g_objects[device] = new CUpti_PmSampling_Object{device};
  return PmCall(function, device, CUPTI_SUCCESS);
}

CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
  const char* const function = "cuptiPmSamplingDisable";
  PM_BEGIN(function, params, CUpti_PmSampling_Disable_Params);
  CUpti_PmSampling_Object* object = Find(params->pPmSamplingObject, function);
  if (object == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (object->is_started) PmViolation("counters are given back while they are sampled");
  const int device = object->device;
  g_objects.erase(device);
  delete object;
  return PmCall(function, device, CUPTI_SUCCESS);
}

CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  const char* const function = "cuptiPmSamplingSetConfig";
  // The append mode is of 12.8: releases before take the size without it alone, later ones both.
  if (params == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const size_t first_size =
      CUPTI_PROFILER_STRUCT_SIZE(CUpti_PmSampling_SetConfig_Params, triggerMode);
  const bool is_first = fake_gpu_cupti::kVersion < 26 || params->structSize == first_size;
  const CUptiResult gate =
      PmGate(function, params->structSize,
             is_first ? first_size : sizeof(CUpti_PmSampling_SetConfig_Params));
  if (gate != CUPTI_SUCCESS) return gate;
  const std::lock_guard lock(g_lock);
  CUpti_PmSampling_Object* object = Find(params->pPmSamplingObject, function);
  fake_gpu_cupti::PmConfigImage config;
  if (object == nullptr || params->hardwareBufferSize == 0 || params->samplingInterval == 0 ||
      !fake_gpu_cupti::ReadConfig(params->pConfig, params->configSize, &config))
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (object->is_started) PmViolation("sampling is configured while it runs");
  if (config.passes != 1) PmViolation("PM sampling with more passes than one");
  const bool is_by_time = params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  if (is_by_time && fake_gpu::TheScript().pm_sysclk_only)
    return PmCall(function, object->device, CUPTI_ERROR_NOT_SUPPORTED);
  object->interval_ns =
      is_by_time ? params->samplingInterval : params->samplingInterval * 1000 / kSysclkMhz;
  object->has_config = true;
  fake_gpu::TruthLine(
      "{\"t\":\"pm_config\",\"device\":%d,\"interval\":%lu,\"mode\":%d,"
      "\"buffer\":%lu,\"metrics\":%lu}",
      object->device, static_cast<unsigned long>(params->samplingInterval),
      static_cast<int>(params->triggerMode), static_cast<unsigned long>(params->hardwareBufferSize),
      static_cast<unsigned long>(config.metrics.size()));
  return PmCall(function, object->device, CUPTI_SUCCESS);
}

CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
  const char* const function = "cuptiPmSamplingStart";
  PM_BEGIN(function, params, CUpti_PmSampling_Start_Params);
  CUpti_PmSampling_Object* object = Find(params->pPmSamplingObject, function);
  if (object == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!object->has_config || object->is_started) {
    PmViolation("sampling starts without a configuration, or twice");
    return PmCall(function, object->device, CUPTI_ERROR_INVALID_OPERATION);
  }
  object->is_started = true;
  object->begun = fake_gpu::Monotonic();
  return PmCall(function, object->device, CUPTI_SUCCESS);
}

CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* params) {
  const char* const function = "cuptiPmSamplingStop";
  PM_BEGIN(function, params, CUpti_PmSampling_Stop_Params);
  CUpti_PmSampling_Object* object = Find(params->pPmSamplingObject, function);
  if (object == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!object->is_started) PmViolation("sampling that does not run is stopped");
  object->is_started = false;
  return PmCall(function, object->device, CUPTI_SUCCESS);
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  const char* const function = "cuptiPmSamplingGetCounterDataSize";
  PM_BEGIN(function, params, CUpti_PmSampling_GetCounterDataSize_Params);
  if (Find(params->pPmSamplingObject, function) == nullptr || params->numMetrics == 0 ||
      params->maxSamples == 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  for (size_t i = 0; i < params->numMetrics; ++i) {
    if (!fake_gpu_cupti::HasMetric(params->pMetricNames[i])) return CUPTI_ERROR_INVALID_PARAMETER;
  }
  params->counterDataSize =
      sizeof(PmImageHeader) + params->maxSamples * sizeof(fake_gpu_cupti::PmImageSample);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
  const char* const function = "cuptiPmSamplingCounterDataImageInitialize";
  PM_BEGIN(function, params, CUpti_PmSampling_CounterDataImage_Initialize_Params);
  CUpti_PmSampling_Object* object = Find(params->pPmSamplingObject, function);
  if (object == nullptr || params->pCounterData == nullptr ||
      params->counterDataSize < sizeof(PmImageHeader) + sizeof(fake_gpu_cupti::PmImageSample))
    return CUPTI_ERROR_INVALID_PARAMETER;
  auto* image = reinterpret_cast<PmImageHeader*>(params->pCounterData);
  *image = {fake_gpu_cupti::kPmImage, object->device,
            (params->counterDataSize - sizeof *image) / sizeof(fake_gpu_cupti::PmImageSample), 0};
  return CUPTI_SUCCESS;
}

// Of the scripted call half of what waits is lost.
CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  const char* const function = "cuptiPmSamplingDecodeData";
  PM_BEGIN(function, params, CUpti_PmSampling_DecodeData_Params);
  CUpti_PmSampling_Object* object = Find(params->pPmSamplingObject, function);
  PmImageHeader* image = ImageAt(params->pCounterDataImage, params->counterDataImageSize);
  if (object == nullptr || image == nullptr || !object->is_started) {
    PmViolation("samples are decoded without an image, or while none are taken");
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  uint64_t waiting = (fake_gpu::Monotonic() - object->begun) / object->interval_ns;
  params->overflow = 0;
  uint64_t lost = 0;
  if (++object->decodes == fake_gpu::TheScript().pm_overflow) {
    params->overflow = 1;
    lost = waiting - waiting / 2;
    waiting /= 2;
    fake_gpu::TruthLine("{\"t\":\"pm_lost\",\"device\":%d,\"samples\":%lu}", object->device,
                        static_cast<unsigned long>(lost));
  }
  while (waiting > 0 && image->populated < image->most) {
    const uint64_t end = object->begun + object->interval_ns;
    *fake_gpu_cupti::SampleAt(image, image->populated++) = {object->number++, object->begun, end};
    object->begun = end;
    --waiting;
  }
  // Lost only once what came before is out.
  if (waiting == 0) {
    object->begun += lost * object->interval_ns;
    object->number += lost;
  }
  params->decodeStopReason = waiting > 0 ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                                         : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  return PmCall(function, object->device, CUPTI_SUCCESS);
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  PM_BEGIN("cuptiPmSamplingGetCounterDataInfo", params, CUpti_PmSampling_GetCounterDataInfo_Params);
  const PmImageHeader* image = ImageAt(params->pCounterDataImage, params->counterDataImageSize);
  if (image == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numTotalSamples = image->most;
  params->numPopulatedSamples = params->numCompletedSamples = image->populated;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
    CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  const char* const function = "cuptiPmSamplingCounterDataGetSampleInfo";
  PM_BEGIN(function, params, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
  PmImageHeader* image = ImageAt(params->pCounterDataImage, params->counterDataImageSize);
  if (Find(params->pPmSamplingObject, function) == nullptr || image == nullptr ||
      params->sampleIndex >= image->populated)
    return CUPTI_ERROR_INVALID_PARAMETER;
  const fake_gpu_cupti::PmImageSample* sample =
      fake_gpu_cupti::SampleAt(image, params->sampleIndex);
  params->startTimestamp = fake_gpu::ToolTimeOf(sample->start);
  params->endTimestamp = fake_gpu::ToolTimeOf(sample->end);
  return CUPTI_SUCCESS;
}
