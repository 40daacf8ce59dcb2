// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Initialisation, the devices, and the values that the script holds ready.

#include "tests/fake_gpu/nvml/state.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace fake_nvml {
namespace {

constexpr int kMostDevices = 16;

std::mutex g_lock;
int g_initialized = 0;
std::map<std::pair<std::string, int>, size_t> g_calls;

nvmlDevice_st* Devices() {
  static nvmlDevice_st devices[kMostDevices];
  for (int i = 0; i < kMostDevices; ++i) devices[i].index = i;
  return devices;
}

bool Is(const std::vector<std::string>& names, const char* function) {
  return std::find(names.begin(), names.end(), function) != names.end();
}

}  // namespace

void Violation(const char* what) {
  fake_gpu::TruthLine("{\"t\":\"violation\",\"what\":\"%s\"}", what);
}

nvmlReturn_t Begin(const char* function) {
  const fake_gpu::Script& script = fake_gpu::TheScript();
  while (Is(script.nvml_hangs, function)) pause();
  if (Is(script.nvml_crashes, function)) abort();
  if (const int code = fake_gpu::ScriptedFailure(function); code != 0)
    return static_cast<nvmlReturn_t>(code);
  const std::lock_guard lock(g_lock);
  if (g_initialized != 0) return NVML_SUCCESS;
  Violation("a call while NVML is not initialised");
  return NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t Begin(const char* function, nvmlDevice_t device) {
  const nvmlReturn_t result = Begin(function);
  if (result != NVML_SUCCESS) return result;
  return device == nullptr ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

bool Next(const std::string& what, int device, double fallback, double* value) {
  const auto& scripted = fake_gpu::TheScript().nvml_values;
  *value = fallback;
  if (const auto found = scripted.find({what, device}); found != scripted.end()) {
    if (found->second.empty()) return false;
    const std::lock_guard lock(g_lock);
    const size_t call = g_calls[{what, device}]++;
    *value = found->second[std::min(call, found->second.size() - 1)];
  }
  fake_gpu::TruthLine("{\"t\":\"nvml\",\"what\":\"%s\",\"device\":%d,\"value\":%.17g,\"time\":%lu}",
                      what.c_str(), device, *value,
                      static_cast<unsigned long>(fake_gpu::Monotonic()));
  return true;
}

}  // namespace fake_nvml

using fake_nvml::Begin;

extern "C" {

nvmlReturn_t nvmlInit_v2(void) {
  {
    const std::lock_guard lock(fake_nvml::g_lock);
    ++fake_nvml::g_initialized;
  }
  const nvmlReturn_t result = Begin("nvmlInit_v2");
  if (result != NVML_SUCCESS) {
    const std::lock_guard lock(fake_nvml::g_lock);
    --fake_nvml::g_initialized;
  }
  return result;
}

nvmlReturn_t nvmlShutdown(void) {
  const nvmlReturn_t result = Begin("nvmlShutdown");
  const std::lock_guard lock(fake_nvml::g_lock);
  if (fake_nvml::g_initialized > 0) --fake_nvml::g_initialized;
  return result;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  if (const nvmlReturn_t result = Begin("nvmlSystemGetDriverVersion"); result != NVML_SUCCESS)
    return result;
  snprintf(version, length, "580.65.06");
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  if (const nvmlReturn_t result = Begin("nvmlDeviceGetCount_v2"); result != NVML_SUCCESS)
    return result;
  *count = static_cast<unsigned>(std::min(fake_gpu::TheScript().devices, fake_nvml::kMostDevices));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  if (const nvmlReturn_t result = Begin("nvmlDeviceGetHandleByIndex_v2"); result != NVML_SUCCESS)
    return result;
  if (static_cast<int>(index) >= fake_gpu::TheScript().devices) return NVML_ERROR_INVALID_ARGUMENT;
  *device = &fake_nvml::Devices()[index];
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  if (const nvmlReturn_t result = Begin("nvmlDeviceGetName", device); result != NVML_SUCCESS)
    return result;
  snprintf(name, length, "Simulated GPU");
  return NVML_SUCCESS;
}

// The same bytes as cuDeviceGetUuid's.
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
  if (const nvmlReturn_t result = Begin("nvmlDeviceGetUUID", device); result != NVML_SUCCESS)
    return result;
  const unsigned byte = 0xf0u + static_cast<unsigned>(device->index);
  const unsigned two = byte << 8 | byte;
  snprintf(uuid, length, "GPU-%04x%04x-%04x-%04x-%04x-%04x%04x%04x", two, two, two, two, two, two,
           two, two);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* generation) {
  if (const nvmlReturn_t result = Begin("nvmlDeviceGetMaxPcieLinkGeneration", device);
      result != NVML_SUCCESS)
    return result;
  *generation = 5;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int* width) {
  if (const nvmlReturn_t result = Begin("nvmlDeviceGetMaxPcieLinkWidth", device);
      result != NVML_SUCCESS)
    return result;
  *width = 16;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int* current,
                                  unsigned int* pending) {
  if (const nvmlReturn_t result = Begin("nvmlDeviceGetMigMode", device); result != NVML_SUCCESS)
    return result;
  *current = *pending = fake_gpu::TheScript().mig ? 1 : 0;
  return NVML_SUCCESS;
}

}  // extern "C"
