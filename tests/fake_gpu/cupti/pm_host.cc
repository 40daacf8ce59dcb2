// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The host side: configurations and values. See pm.h.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <set>

#include "tests/fake_gpu/cupti/pm.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

struct CUpti_Profiler_Host_Object {
  bool is_spoilt = false;  // it has refused a metric
  std::vector<std::string> metrics;
};

namespace fake_gpu_cupti {
namespace {

constexpr char kConfig[] = "pmconfig";

std::mutex g_lock;
std::set<CUpti_Profiler_Host_Object*> g_hosts;

bool IsHost(CUpti_Profiler_Host_Object* host) {
  const std::lock_guard lock(g_lock);
  return g_hosts.count(host) != 0;
}

size_t PassesOf(const std::vector<std::string>& metrics) {
  const std::vector<std::string>& two = fake_gpu::TheScript().pm_two_passes;
  for (const std::string& metric : metrics) {
    if (std::find(two.begin(), two.end(), metric) != two.end()) return 2;
  }
  const size_t most = fake_gpu::TheScript().pm_one_pass;
  return most != 0 && metrics.size() > most ? 2 : 1;
}

// Waits until the file exists, for a minute at most.
void WaitForFile(const char* file) {
  for (int i = 0; i < 6000 && access(file, F_OK) != 0; ++i) usleep(10'000);
}

}  // namespace

std::string WriteConfig(const PmConfigImage& config) {
  std::string text = std::string(kConfig) + "\n" + std::to_string(config.passes) + "\n";
  for (const std::string& metric : config.metrics) text += metric + "\n";
  return text;
}

bool ReadConfig(const uint8_t* bytes, size_t size, PmConfigImage* config) {
  if (bytes == nullptr) return false;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  std::vector<std::string> lines;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(text.substr(at, end - at));
  if (lines.size() < 2 || lines[0] != kConfig) return false;
  config->passes = std::stoul(lines[1]);
  config->metrics.assign(lines.begin() + 2, lines.end());
  return true;
}

PmImageHeader* ImageAt(const uint8_t* bytes, size_t size) {
  auto* image = reinterpret_cast<PmImageHeader*>(const_cast<uint8_t*>(bytes));
  if (image == nullptr || size < sizeof *image || image->magic != kPmImage) return nullptr;
  return image;
}

PmImageSample* SampleAt(PmImageHeader* image, size_t index) {
  return reinterpret_cast<PmImageSample*>(image + 1) + index;
}

bool HasMetric(const std::string& metric) {
  for (const auto& [key, values] : fake_gpu::TheScript().pm_values) {
    if (key.first == metric) return true;
  }
  return false;
}

double ValueOf(const std::string& metric, int device, uint64_t number) {
  const auto& scripted = fake_gpu::TheScript().pm_values;
  const auto found = scripted.find({metric, device});
  if (found == scripted.end() || found->second.empty()) return std::nan("");
  return found->second[std::min<size_t>(number, found->second.size() - 1)];
}

void PmViolation(const char* what) {
  fake_gpu::TruthLine("{\"t\":\"violation\",\"what\":\"%s\"}", what);
}

CUptiResult PmCall(const char* function, int device, CUptiResult result) {
  fake_gpu::TruthLine(
      "{\"t\":\"pm_call\",\"what\":\"%s\",\"device\":%d,\"result\":%d,\"time\":%lu}", function,
      device, static_cast<int>(result), static_cast<unsigned long>(fake_gpu::Monotonic()));
  return result;
}

CUptiResult PmGate(const char* function, size_t size, size_t expected) {
  const std::vector<std::string>& crashes = fake_gpu::TheScript().pm_crashes;
  if (std::find(crashes.begin(), crashes.end(), function) != crashes.end()) abort();
  for (const auto& [slow, file] : fake_gpu::TheScript().pm_slow) {
    if (slow == function) WaitForFile(file.c_str());
  }
  const CUptiResult gate = Gate(function, true);
  if (gate != CUPTI_SUCCESS) return PmCall(function, -1, gate);
  return size == expected ? CUPTI_SUCCESS : PmCall(function, -1, CUPTI_ERROR_INVALID_PARAMETER);
}

}  // namespace fake_gpu_cupti

using fake_gpu_cupti::IsHost;
using fake_gpu_cupti::PmCall;
using fake_gpu_cupti::PmGate;
using fake_gpu_cupti::PmViolation;

#define PM_GATE(function, params, type)                                                  \
  if (params == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;                           \
  if (const CUptiResult gate = PmGate(function, params->structSize, type##_STRUCT_SIZE); \
      gate != CUPTI_SUCCESS || params->pPriv != nullptr)                                 \
  return gate != CUPTI_SUCCESS ? gate : CUPTI_ERROR_INVALID_PARAMETER

// The host side needs no driver: it works on the image alone.
CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  PM_GATE("cuptiProfilerHostInitialize", params, CUpti_Profiler_Host_Initialize_Params);
  if (params->profilerType != CUPTI_PROFILER_TYPE_PM_SAMPLING) return CUPTI_ERROR_INVALID_PARAMETER;
  if (params->pChipName == nullptr || strcmp(params->pChipName, "SIM100") != 0)
    return CUPTI_ERROR_INVALID_CHIP_NAME;
  const std::lock_guard lock(fake_gpu_cupti::g_lock);
  params->pHostObject = *fake_gpu_cupti::g_hosts.insert(new CUpti_Profiler_Host_Object).first;
  return PmCall("cuptiProfilerHostInitialize", -1, CUPTI_SUCCESS);
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  PM_GATE("cuptiProfilerHostDeinitialize", params, CUpti_Profiler_Host_Deinitialize_Params);
  const std::lock_guard lock(fake_gpu_cupti::g_lock);
  if (fake_gpu_cupti::g_hosts.erase(params->pHostObject) == 0) {
    PmViolation("a host object that is none is ended");
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  delete params->pHostObject;
  return PmCall("cuptiProfilerHostDeinitialize", -1, CUPTI_SUCCESS);
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  PM_GATE("cuptiProfilerHostConfigAddMetrics", params, CUpti_Profiler_Host_ConfigAddMetrics_Params);
  if (!IsHost(params->pHostObject)) {
    PmViolation("metrics are added to a host object that is none");
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  // As the real one: after a metric that is none nothing more is taken.
  if (params->pHostObject->is_spoilt) return CUPTI_ERROR_UNKNOWN;
  for (size_t i = 0; i < params->numMetrics; ++i) {
    if (!fake_gpu_cupti::HasMetric(params->ppMetricNames[i])) {
      params->pHostObject->is_spoilt = true;
      return PmCall("cuptiProfilerHostConfigAddMetrics", -1, CUPTI_ERROR_INVALID_PARAMETER);
    }
    params->pHostObject->metrics.emplace_back(params->ppMetricNames[i]);
  }
  return PmCall("cuptiProfilerHostConfigAddMetrics", -1, CUPTI_SUCCESS);
}

namespace {

std::string ConfigOf(CUpti_Profiler_Host_Object* host) {
  if (!IsHost(host) || host->is_spoilt || host->metrics.empty()) return "";
  return fake_gpu_cupti::WriteConfig({fake_gpu_cupti::PassesOf(host->metrics), host->metrics});
}

}  // namespace

CUptiResult cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  PM_GATE("cuptiProfilerHostGetConfigImageSize", params,
          CUpti_Profiler_Host_GetConfigImageSize_Params);
  params->configImageSize = ConfigOf(params->pHostObject).size();
  return params->configImageSize != 0 ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  PM_GATE("cuptiProfilerHostGetConfigImage", params, CUpti_Profiler_Host_GetConfigImage_Params);
  const std::string config = ConfigOf(params->pHostObject);
  if (config.empty() || params->pConfigImage == nullptr || params->configImageSize < config.size())
    return CUPTI_ERROR_INVALID_PARAMETER;
  memcpy(params->pConfigImage, config.data(), config.size());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  PM_GATE("cuptiProfilerHostGetNumOfPasses", params, CUpti_Profiler_Host_GetNumOfPasses_Params);
  fake_gpu_cupti::PmConfigImage config;
  if (!fake_gpu_cupti::ReadConfig(params->pConfigImage, params->configImageSize, &config))
    return CUPTI_ERROR_INVALID_PARAMETER;
  params->numOfPasses = config.passes;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  PM_GATE("cuptiProfilerHostEvaluateToGpuValues", params,
          CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  fake_gpu_cupti::PmImageHeader* image =
      fake_gpu_cupti::ImageAt(params->pCounterDataImage, params->counterDataImageSize);
  if (!IsHost(params->pHostObject) || image == nullptr || params->rangeIndex >= image->populated) {
    PmViolation("a sample that is none is evaluated");
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const fake_gpu_cupti::PmImageSample* sample = fake_gpu_cupti::SampleAt(image, params->rangeIndex);
  const auto device = static_cast<int>(image->device);
  for (size_t i = 0; i < params->numMetrics; ++i) {
    const char* const metric = params->ppMetricNames[i];
    const double value = fake_gpu_cupti::ValueOf(metric, device, sample->number);
    params->pMetricValues[i] = value;
    char text[64];
    snprintf(text, sizeof text, std::isnan(value) ? "null" : "%.17g", value);
    fake_gpu::TruthLine(
        "{\"t\":\"pm\",\"metric\":\"%s\",\"device\":%d,\"sample\":%lu,\"value\":%s,"
        "\"start\":%lu,\"end\":%lu}",
        metric, device, static_cast<unsigned long>(sample->number), text,
        static_cast<unsigned long>(sample->start), static_cast<unsigned long>(sample->end));
  }
  return CUPTI_SUCCESS;
}
