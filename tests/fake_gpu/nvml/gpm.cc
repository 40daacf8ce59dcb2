// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// GPM: a device has the metrics that the script gives it, and GPM itself if it has any. What two
// samples tell goes by the later one's number.

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "tests/fake_gpu/nvml/state.h"

struct nvmlGpmSample_st {
  int device = -1;
  size_t number = 0;  // of the device's samples, from 0
  uint64_t time = 0;
};

using fake_nvml::Begin;
using fake_nvml::Violation;

namespace {

constexpr uint64_t kNearest = 90'000'000;

std::mutex g_lock;
std::set<nvmlGpmSample_t> g_samples;
std::map<int, nvmlGpmSample_st> g_last;  // by device

bool HasGpm(int device) {
  for (const auto& [key, values] : fake_gpu::TheScript().gpm_values) {
    if (key.second == device) return true;
  }
  return false;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t* support) {
  if (const nvmlReturn_t result = Begin("nvmlGpmQueryDeviceSupport", device);
      result != NVML_SUCCESS)
    return result;
  if (support->version != NVML_GPM_SUPPORT_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  support->isSupportedDevice = HasGpm(device->index) ? 1 : 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
  if (const nvmlReturn_t result = Begin("nvmlGpmSampleAlloc"); result != NVML_SUCCESS)
    return result;
  const std::lock_guard lock(g_lock);
  *sample = *g_samples.insert(new nvmlGpmSample_st).first;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
  if (const nvmlReturn_t result = Begin("nvmlGpmSampleFree"); result != NVML_SUCCESS) return result;
  const std::lock_guard lock(g_lock);
  if (g_samples.erase(sample) == 0) {
    Violation("a sample of GPM that is none is freed");
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  delete sample;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
  if (const nvmlReturn_t result = Begin("nvmlGpmSampleGet", device); result != NVML_SUCCESS)
    return result;
  const std::lock_guard lock(g_lock);
  if (g_samples.count(sample) == 0) {
    Violation("a sample of GPM that is none is filled");
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  const auto last = g_last.find(device->index);
  sample->device = device->index;
  sample->time = fake_gpu::Monotonic();
  sample->number = last == g_last.end() ? 0 : last->second.number + 1;
  if (last != g_last.end() && sample->time - last->second.time < kNearest)
    Violation("two samples of GPM are nearer than 90 ms");
  g_last[device->index] = *sample;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* get) {
  if (const nvmlReturn_t result = Begin("nvmlGpmMetricsGet"); result != NVML_SUCCESS) return result;
  if (get->version != NVML_GPM_METRICS_GET_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  const std::lock_guard lock(g_lock);
  const nvmlGpmSample_t first = get->sample1, second = get->sample2;
  if (g_samples.count(first) == 0 || g_samples.count(second) == 0 || first->device < 0 ||
      first->device != second->device || first->number >= second->number) {
    Violation("metrics of samples of GPM that do not follow each other");
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  for (unsigned i = 0; i < get->numMetrics; ++i) {
    nvmlGpmMetric_t& metric = get->metrics[i];
    const auto& scripted = fake_gpu::TheScript().gpm_values;
    const auto found = scripted.find({static_cast<int>(metric.metricId), first->device});
    metric.metricInfo = {};
    if (found == scripted.end() || found->second.empty()) {
      metric.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
      metric.value = -1;  // is not to be looked at
      continue;
    }
    metric.nvmlReturn = NVML_SUCCESS;
    metric.value = found->second[std::min(second->number - 1, found->second.size() - 1)];
    fake_gpu::TruthLine(
        "{\"t\":\"gpm\",\"metric\":%u,\"device\":%d,\"value\":%.17g,\"from\":%lu,\"to\":%lu}",
        metric.metricId, first->device, metric.value, static_cast<unsigned long>(first->time),
        static_cast<unsigned long>(second->time));
  }
  return NVML_SUCCESS;
}

}  // extern "C"
