// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Devices and contexts.

#include <cstdio>
#include <cstring>

#include "tests/fake_gpu/cuda/driver.h"
#include "tests/fake_gpu/device/memory.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/device/work.h"

using fake_gpu::current_context;
using fake_gpu::TheScript;
using fake_gpu_cuda::Initialized;

namespace {

bool IsDevice(CUdevice device) { return device >= 0 && device < TheScript().devices; }

CUresult Ready(CUdevice device) {
  if (!Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  return IsDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

int AttributeOf(CUdevice_attribute attribute, CUdevice device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 0x7fffffff;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return 65535 + (attribute != CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y &&
                      attribute != CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 * 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 164 * 1024;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 108;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1410000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 1215000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5120;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 40 << 20;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 8;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return device + 1;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 2;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  DRIVER_CALL(cuDeviceGet, device, ordinal);
  if (const CUresult ready = Ready(ordinal); ready != CUDA_SUCCESS) return call.End(ready);
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  DRIVER_CALL(cuDeviceGetCount, count);
  if (!Initialized()) return call.End(CUDA_ERROR_NOT_INITIALIZED);
  *count = TheScript().devices;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  DRIVER_CALL(cuDeviceGetName, name, size, device);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  snprintf(name, static_cast<size_t>(size), "Simulated GPU");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  DRIVER_CALL(cuDeviceGetAttribute, value, attribute, device);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  *value = AttributeOf(attribute, device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  DRIVER_CALL(cuDeviceTotalMem_v2, bytes, device);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  *bytes = TheScript().memory;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  DRIVER_CALL(cuDeviceGetUuid_v2, uuid, device);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  memset(uuid->bytes, 0xf0 + device, sizeof uuid->bytes);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
  DRIVER_CALL(cuDeviceGetPCIBusId, id, size, device);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  snprintf(id, static_cast<size_t>(size), "0000:%02X:00.0", device + 1);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* result, CUdevice device) {
  DRIVER_CALL(cuDevicePrimaryCtxRetain, result, device);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  *result = fake_gpu::PrimaryContext(device);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  DRIVER_CALL(cuDevicePrimaryCtxRelease_v2, device);
  return call.End(Ready(device));
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  DRIVER_CALL(cuDevicePrimaryCtxReset_v2, device);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  fake_gpu::DestroyContext(fake_gpu::PrimaryContext(device));
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  DRIVER_CALL(cuDevicePrimaryCtxGetState, device, flags, active);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  *flags = 0;
  *active = 0;
  for (CUcontext context : fake_gpu::LiveContexts()) {
    if (context->primary && context->device == device) *active = 1;
  }
  return CUDA_SUCCESS;
}

// No longer in the header, but in the driver.
extern "C" CUresult cuCtxCreate_v2(CUcontext* result, unsigned flags, CUdevice device) {
  DRIVER_CALL(cuCtxCreate_v2, result, flags, device);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  *result = current_context = fake_gpu::CreateContext(device, false);
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v4(CUcontext* result, CUctxCreateParams* more, unsigned flags,
                        CUdevice device) {
  DRIVER_CALL(cuCtxCreate_v4, result, more, flags, device);
  if (const CUresult ready = Ready(device); ready != CUDA_SUCCESS) return call.End(ready);
  *result = current_context = fake_gpu::CreateContext(device, false);
  return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext destroyed) {
  DRIVER_CALL(cuCtxDestroy_v2, destroyed);
  if (destroyed == nullptr || !destroyed->alive.load()) return call.End(CUDA_ERROR_INVALID_CONTEXT);
  fake_gpu::DestroyContext(destroyed);
  if (current_context == destroyed) current_context = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* result) {
  DRIVER_CALL(cuCtxGetCurrent, result);
  if (!Initialized()) return call.End(CUDA_ERROR_NOT_INITIALIZED);
  *result = current_context;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext wanted) {
  DRIVER_CALL(cuCtxSetCurrent, wanted);
  if (wanted != nullptr && !wanted->alive.load()) return call.End(CUDA_ERROR_INVALID_CONTEXT);
  current_context = wanted;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext wanted) {
  DRIVER_CALL(cuCtxPushCurrent_v2, wanted);
  if (wanted == nullptr || !wanted->alive.load()) return call.End(CUDA_ERROR_INVALID_CONTEXT);
  wanted->parent = current_context;
  current_context = wanted;
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* result) {
  DRIVER_CALL(cuCtxPopCurrent_v2, result);
  NEED_CONTEXT();
  if (result != nullptr) *result = context;
  current_context = context->parent;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  DRIVER_CALL(cuCtxGetDevice, device);
  NEED_CONTEXT();
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  DRIVER_CALL_0(cuCtxSynchronize);
  NEED_CONTEXT();
  return call.End(fake_gpu::SynchronizeContext(context));
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  DRIVER_CALL(cuCtxGetStreamPriorityRange, least, greatest);
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}
