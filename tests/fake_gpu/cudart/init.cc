// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The driver behind the runtime, devices, errors.

#include <cuda_profiler_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "tests/fake_gpu/cudart/runtime.h"

namespace fake_gpu_cudart {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int current_device = 0;

Driver* Find() {
  auto* driver = new Driver;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return driver;
#define FAKE_GPU_ENTRY(name) \
  driver->name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name));
#include "tests/fake_gpu/cudart/entries.inc"
#undef FAKE_GPU_ENTRY
  driver->present = true;
  return driver;
}

cudaError_t Initialize() {
  if (!TheDriver().present) return cudaErrorInsufficientDriver;
  int version = 0;
  TheDriver().cuDriverGetVersion(&version);
  if (version / 1000 < CUDART_VERSION / 1000) return cudaErrorInsufficientDriver;
  return From(TheDriver().cuInit(0));
}

// Once, as in the real runtime: what it answered it answers for ever.
cudaError_t Initialized() {
  static const cudaError_t result = Initialize();
  return result;
}

void FillProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  const Driver& driver = TheDriver();
  const auto attribute = [&](CUdevice_attribute wanted) {
    int value = 0;
    driver.cuDeviceGetAttribute(&value, wanted, device);
    return value;
  };
  driver.cuDeviceGetName(properties->name, sizeof properties->name, device);
  driver.cuDeviceTotalMem_v2(&properties->totalGlobalMem, device);
  driver.cuDeviceGetUuid_v2(&properties->uuid, device);
  properties->sharedMemPerBlock =
      static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  properties->sharedMemPerMultiprocessor =
      static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  properties->regsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  properties->warpSize = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  properties->maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  properties->maxThreadsPerMultiProcessor =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  properties->multiProcessorCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  properties->major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  properties->minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  properties->l2CacheSize = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  properties->memoryBusWidth = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  properties->asyncEngineCount = attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  properties->concurrentKernels = properties->unifiedAddressing = properties->managedMemory = 1;
  properties->memoryPoolsSupported = properties->cooperativeLaunch = 1;
}

}  // namespace

const Driver& TheDriver() {
  static const Driver* const driver = Find();
  return *driver;
}

cudaError_t Remember(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) [[unlikely]]
    last_error = error;
  return error;
}

int CurrentDevice() { return current_device; }

cudaError_t Ready() {
  // The program may have made a context current through the driver: that one it is, then.
  CUcontext context = fake_gpu::current_context;
  if (context != nullptr && context->alive.load(std::memory_order_relaxed)) [[likely]]
    return cudaSuccess;
  if (const cudaError_t result = Initialized(); result != cudaSuccess) return result;
  const CUresult result = TheDriver().cuDevicePrimaryCtxRetain(&context, current_device);
  if (result != CUDA_SUCCESS) return From(result);
  return From(TheDriver().cuCtxSetCurrent(context));
}

}  // namespace fake_gpu_cudart

using fake_gpu_cudart::Initialized;
using fake_gpu_cudart::Remember;
using fake_gpu_cudart::TheDriver;

cudaError_t cudaDriverGetVersion(int* version) {
  RUNTIME_CALL(cudaDriverGetVersion, 3020, version);
  *version = 0;
  if (!TheDriver().present) return cudaSuccess;
  FORWARD(TheDriver().cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  RUNTIME_CALL(cudaRuntimeGetVersion, 3020, version);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  RUNTIME_CALL(cudaGetDeviceCount, 3020, count);
  *count = 0;
  if (const cudaError_t result = Initialized(); result != cudaSuccess)
    return call.End(Remember(result));
  FORWARD(TheDriver().cuDeviceGetCount(count));
}

cudaError_t cudaGetDevice(int* device) {
  RUNTIME_CALL(cudaGetDevice, 3020, device);
  *device = fake_gpu_cudart::current_device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  RUNTIME_CALL(cudaSetDevice, 3020, device);
  if (const cudaError_t result = Initialized(); result != cudaSuccess)
    return call.End(Remember(result));
  CUcontext context = nullptr;
  const CUresult result = TheDriver().cuDevicePrimaryCtxRetain(&context, device);
  if (result != CUDA_SUCCESS) FORWARD(result);
  fake_gpu_cudart::current_device = device;
  FORWARD(TheDriver().cuCtxSetCurrent(context));
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  RUNTIME_CALL(cudaGetDeviceProperties, 12000, properties, device);
  if (const cudaError_t result = Initialized(); result != cudaSuccess)
    return call.End(Remember(result));
  CUdevice ignored;
  const CUresult result = TheDriver().cuDeviceGet(&ignored, device);
  if (result == CUDA_SUCCESS) fake_gpu_cudart::FillProperties(properties, device);
  FORWARD(result);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  RUNTIME_CALL(cudaDeviceGetAttribute, 5000, value, attribute, device);
  if (const cudaError_t result = Initialized(); result != cudaSuccess)
    return call.End(Remember(result));
  FORWARD(
      TheDriver().cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device));
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int device) {
  RUNTIME_CALL(cudaDeviceGetPCIBusId, 4010, id, size, device);
  if (const cudaError_t result = Initialized(); result != cudaSuccess)
    return call.End(Remember(result));
  FORWARD(TheDriver().cuDeviceGetPCIBusId(id, size, device));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  RUNTIME_CALL(cudaDeviceGetStreamPriorityRange, 5050, least, greatest);
  NEED_READY();
  FORWARD(TheDriver().cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t cudaDeviceSynchronize() {
  RUNTIME_CALL_0(cudaDeviceSynchronize, 3020);
  NEED_READY();
  FORWARD(TheDriver().cuCtxSynchronize());
}

cudaError_t cudaDeviceReset() {
  RUNTIME_CALL_0(cudaDeviceReset, 3020);
  NEED_READY();
  FORWARD(TheDriver().cuDevicePrimaryCtxReset_v2(fake_gpu_cudart::CurrentDevice()));
}

cudaError_t cudaGetLastError() {
  RUNTIME_CALL_0(cudaGetLastError, 3020);
  const cudaError_t error = fake_gpu_cudart::last_error;
  fake_gpu_cudart::last_error = cudaSuccess;
  return call.End(error);
}

cudaError_t cudaPeekAtLastError() {
  RUNTIME_CALL_0(cudaPeekAtLastError, 3020);
  return call.End(fake_gpu_cudart::last_error);
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    default:
      return "unrecognized error code";
  }
}

const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }

cudaError_t cudaProfilerStart() {
  RUNTIME_CALL_0(cudaProfilerStart, 4000);
  NEED_READY();
  FORWARD(TheDriver().cuProfilerStart());
}

cudaError_t cudaProfilerStop() {
  RUNTIME_CALL_0(cudaProfilerStop, 4000);
  NEED_READY();
  FORWARD(TheDriver().cuProfilerStop());
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  RUNTIME_CALL(cudaGetDriverEntryPointByVersion, 12050, symbol, function, version, flags, status);
  NEED_READY();
  const CUresult result =
      TheDriver().cuGetProcAddress_v2(symbol, function, static_cast<int>(version), flags, nullptr);
  if (status != nullptr) {
    *status =
        result == CUDA_SUCCESS ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}
