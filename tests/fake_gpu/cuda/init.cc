// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// cuInit with its injection, entry points by name, errors by name.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/fake_gpu/cuda/driver.h"
#include "tests/fake_gpu/device/script.h"

namespace fake_gpu_cuda {
namespace {

std::atomic<bool> initialized{false};

// As the real driver: once, inside the first cuInit, whatever becomes of it. A tool's exit handler
// that is registered here therefore runs after the driver's own.
void Inject() {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || path[0] == 0) return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  using Entry = int (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "InitializeInjection"));
  if (entry != nullptr) entry();
}

CUresult Initialize() {
  fake_gpu::RememberProcess();
  Inject();
  atexit(fake_gpu::ExitDriver);
  if (fake_gpu::TheScript().devices == 0) return CUDA_ERROR_NO_DEVICE;
  initialized.store(true);
  fake_gpu::driver_initialised.store(true);
  fake_gpu::TellSink({.event = fake_gpu::ObjectEvent::kInitFinished});
  return CUDA_SUCCESS;
}

void* OwnLibrary() {
  static void* const library = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&Initialize), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return library;
}

void* EntryPoint(const char* name) {
  for (const char* version : {"_v4", "_v3", "_v2", ""}) {
    if (void* found = dlsym(OwnLibrary(), (std::string(name) + version).c_str())) return found;
  }
  return nullptr;
}

struct ErrorName {
  CUresult result;
  const char* name;
};

constexpr ErrorName kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
};

}  // namespace

bool Initialized() { return initialized.load(std::memory_order_relaxed); }

}  // namespace fake_gpu_cuda

CUresult cuInit(unsigned flags) {
  DRIVER_CALL(cuInit, flags);
  static const CUresult result = fake_gpu_cuda::Initialize();
  return call.End(result);
}

CUresult cuDriverGetVersion(int* version) {
  DRIVER_CALL(cuDriverGetVersion, version);
  if (version == nullptr) return call.End(CUDA_ERROR_INVALID_VALUE);
  *version = fake_gpu::TheScript().driver_version;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  DRIVER_CALL(cuGetProcAddress_v2, symbol, function, version, flags, status);
  if (symbol == nullptr || function == nullptr) return call.End(CUDA_ERROR_INVALID_VALUE);
  *function = fake_gpu_cuda::EntryPoint(symbol);
  if (status != nullptr) {
    *status =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return call.End(*function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

// Private tables: there are none.
CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  DRIVER_CALL(cuGetExportTable, table, id);
  if (table != nullptr) *table = nullptr;
  return call.End(CUDA_ERROR_NOT_FOUND);
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  for (const auto& known : fake_gpu_cuda::kErrors) {
    if (known.result != error) continue;
    *name = known.name;
    return CUDA_SUCCESS;
  }
  *name = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) { return cuGetErrorName(error, text); }

CUresult cuProfilerStart() {
  DRIVER_CALL_0(cuProfilerStart);
  return CUDA_SUCCESS;
}

CUresult cuProfilerStop() {
  DRIVER_CALL_0(cuProfilerStop);
  return CUDA_SUCCESS;
}
