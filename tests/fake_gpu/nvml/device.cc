// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values of a device at the moment.

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "tests/fake_gpu/nvml/state.h"

using fake_nvml::Begin;
using fake_nvml::Next;

namespace {

// One value of one function.
template <typename T>
nvmlReturn_t Value(const char* function, const std::string& what, nvmlDevice_t device,
                   double fallback, T* value) {
  if (const nvmlReturn_t result = Begin(function, device); result != NVML_SUCCESS) return result;
  double next = 0;
  if (!Next(what, device->index, fallback, &next)) return NVML_ERROR_NOT_SUPPORTED;
  *value = static_cast<T>(next);
  return NVML_SUCCESS;
}

std::string Of(const char* function, int which) {
  return std::string(function) + "." + std::to_string(which);
}

// The caller's siblings: where a sampler asks, the program.
std::vector<int> Siblings() {
  const std::string parent = std::to_string(getppid());
  std::ifstream children("/proc/" + parent + "/task/" + parent + "/children");
  std::vector<int> found;
  for (int pid = 0; children >> pid;) {
    if (pid != getpid()) found.push_back(pid);
  }
  return found;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* utilization) {
  const char* const function = "nvmlDeviceGetUtilizationRates";
  if (const nvmlReturn_t result = Begin(function, device); result != NVML_SUCCESS) return result;
  double gpu = 0, memory = 0;
  if (!Next("nvmlDeviceGetUtilizationRates.gpu", device->index, 50, &gpu) ||
      !Next("nvmlDeviceGetUtilizationRates.memory", device->index, 25, &memory))
    return NVML_ERROR_NOT_SUPPORTED;
  *utilization = {static_cast<unsigned>(gpu), static_cast<unsigned>(memory)};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  const char* const function = "nvmlDeviceGetMemoryInfo";
  unsigned long long used = 0;
  const nvmlReturn_t result = Value(function, function, device, 8e9, &used);
  const unsigned long long total = fake_gpu::TheScript().memory;
  *memory = {total, total - used, used};
  return result;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                    unsigned int* clock) {
  const char* const function = "nvmlDeviceGetClockInfo";
  return Value(function, Of(function, type), device, type == NVML_CLOCK_SM ? 1980 : 2619, clock);
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* power) {
  return Value("nvmlDeviceGetPowerUsage", "nvmlDeviceGetPowerUsage", device, 300123, power);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t,
                                      unsigned int* temperature) {
  return Value("nvmlDeviceGetTemperature", "nvmlDeviceGetTemperature", device, 41, temperature);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
                                                    unsigned long long* reasons) {
  const char* const function = "nvmlDeviceGetCurrentClocksEventReasons";
  return Value(function, function, device, 0, reasons);
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         unsigned int* value) {
  const char* const function = "nvmlDeviceGetPcieThroughput";
  usleep(20'000);  // as the real one
  return Value(function, Of(function, counter), device, 1000 * (counter + 1), value);
}

// Only what the script gives, and the power.
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  const char* const function = "nvmlDeviceGetFieldValues";
  if (const nvmlReturn_t result = Begin(function, device); result != NVML_SUCCESS) return result;
  for (int i = 0; i < count; ++i) {
    nvmlFieldValue_t& field = values[i];
    const std::string what = Of(function, static_cast<int>(field.fieldId));
    const bool is_power = field.fieldId == NVML_FI_DEV_POWER_INSTANT;
    double next = 0;
    field.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    if (!is_power && fake_gpu::TheScript().nvml_values.count({what, device->index}) == 0) continue;
    if (!Next(what, device->index, 310456, &next)) continue;
    field.nvmlReturn = NVML_SUCCESS;
    field.valueType = is_power ? NVML_VALUE_TYPE_UNSIGNED_INT : NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
    memset(&field.value, 0xee, sizeof field.value);  // the rest of the union is anything
    if (is_power) {
      field.value.uiVal = static_cast<unsigned>(next);
    } else {
      field.value.ullVal = static_cast<unsigned long long>(next);
    }
  }
  return NVML_SUCCESS;
}

// The program, and another one that is not ours.
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_t* infos) {
  const char* const function = "nvmlDeviceGetComputeRunningProcesses_v3";
  if (const nvmlReturn_t result = Begin(function, device); result != NVML_SUCCESS) return result;
  unsigned used = 0;
  for (const int pid : Siblings()) {
    double bytes = 0;
    if (used == *count || !Next(Of(function, pid), device->index, 1 << 30, &bytes)) continue;
    infos[used++] = {static_cast<unsigned>(pid), static_cast<unsigned long long>(bytes), ~0u, ~0u};
  }
  if (used < *count) infos[used++] = {1, 12345, ~0u, ~0u};
  *count = used;
  return NVML_SUCCESS;
}

}  // extern "C"
