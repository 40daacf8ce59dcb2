// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/driver.h"

#include <dlfcn.h>

#include "tracer/base/loaded_library.h"

namespace gpuprof::tracer::cupti {
namespace {

using Ask = int (*)(int*);
constexpr int kCudaSuccess = 0;

// Null: the program has not loaded the driver. What is asked for stays valid: it is never unloaded.
Ask FindInDriver(const char* function) {
  LoadedLibrary driver;
  if (!FindLibrary("libcuda.so", &driver)) return nullptr;
  return reinterpret_cast<Ask>(dlsym(driver.handle, function));
}

}  // namespace

bool DriverIsInitialized() {
  static Ask count_devices = nullptr;
  if (count_devices == nullptr) count_devices = FindInDriver("cuDeviceGetCount");
  int devices = 0;
  return count_devices != nullptr && count_devices(&devices) == kCudaSuccess;
}

uint32_t DriverVersion() {
  int version = 0;
  const Ask ask = FindInDriver("cuDriverGetVersion");
  return ask != nullptr && ask(&version) == kCudaSuccess ? static_cast<uint32_t>(version) : 0;
}

}  // namespace gpuprof::tracer::cupti
