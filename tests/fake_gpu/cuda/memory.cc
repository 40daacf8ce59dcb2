// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory: allocations, pools, copies and sets.

#include "tests/fake_gpu/device/memory.h"

#include "tests/fake_gpu/cuda/driver.h"
#include "tests/fake_gpu/device/managed.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/device/work.h"

using fake_gpu::Space;
using fake_gpu_cuda::PointerOf;

namespace {

CUresult Allocate(CUcontext context, CUdeviceptr* address, size_t bytes, Space space) {
  void* block = nullptr;
  const CUresult result = fake_gpu::Allocate(context, bytes, space, nullptr, nullptr, &block);
  if (result == CUDA_SUCCESS) *address = reinterpret_cast<CUdeviceptr>(block);
  return result;
}

CUresult Copy(void* to, const void* from, size_t bytes, CUstream stream, bool async) {
  if (bytes == 0) return CUDA_SUCCESS;
  return fake_gpu::Enqueue(fake_gpu::CopyOf(to, from, bytes, async),
                           fake_gpu::Resolve(stream, fake_gpu::current_context));
}

CUresult Set(CUdeviceptr to, unsigned value, unsigned element, size_t count, CUstream stream,
             bool async) {
  if (count == 0) return CUDA_SUCCESS;
  fake_gpu::Work work;
  work.type = fake_gpu::Work::Type::kSet;
  work.set = {
      PointerOf(to), value, element, count, static_cast<uint8_t>(fake_gpu::SpaceOf(PointerOf(to))),
      async};
  return fake_gpu::Enqueue(work, fake_gpu::Resolve(stream, fake_gpu::current_context));
}

CUresult AllocateFrom(CUmemoryPool pool, CUdeviceptr* address, size_t bytes, CUstream stream) {
  CUstream resolved = fake_gpu::Resolve(stream, fake_gpu::current_context);
  if (!fake_gpu::Known(resolved)) return CUDA_ERROR_INVALID_HANDLE;
  void* block = nullptr;
  const CUresult result =
      fake_gpu::Allocate(fake_gpu::current_context, bytes, Space::kDevice, resolved, pool, &block);
  if (result == CUDA_SUCCESS) *address = reinterpret_cast<CUdeviceptr>(block);
  return result;
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  DRIVER_CALL(cuMemGetInfo_v2, free, total);
  NEED_CONTEXT();
  *free = fake_gpu::FreeMemory(context->device);
  *total = fake_gpu::TheScript().memory;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  DRIVER_CALL(cuMemAlloc_v2, address, bytes);
  NEED_CONTEXT();
  return call.End(Allocate(context, address, bytes, Space::kDevice));
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  DRIVER_CALL(cuMemAllocManaged, address, bytes, flags);
  NEED_CONTEXT();
  return call.End(Allocate(context, address, bytes, Space::kManaged));
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                               unsigned flags, CUstream stream) {
  DRIVER_CALL(cuMemPrefetchAsync_v2, address, bytes, location, flags, stream);
  NEED_CONTEXT();
  const bool to_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (to_device && (location.id < 0 || location.id >= fake_gpu::TheScript().devices))
    return call.End(CUDA_ERROR_INVALID_DEVICE);
  return call.End(fake_gpu::PrefetchManaged(address, to_device ? location.id : fake_gpu::kHost,
                                            fake_gpu::Resolve(stream, context)));
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  DRIVER_CALL(cuMemFree_v2, address);
  NEED_CONTEXT();
  if (address == 0) return CUDA_SUCCESS;
  // Freeing waits for the device, as the real one does.
  fake_gpu::SynchronizeContext(context);
  return call.End(fake_gpu::Free(PointerOf(address), nullptr));
}

CUresult cuMemHostAlloc(void** result, size_t bytes, unsigned flags) {
  DRIVER_CALL(cuMemHostAlloc, result, bytes, flags);
  NEED_CONTEXT();
  return call.End(fake_gpu::Allocate(context, bytes, Space::kPinned, nullptr, nullptr, result));
}

CUresult cuMemAllocHost_v2(void** result, size_t bytes) {
  DRIVER_CALL(cuMemAllocHost_v2, result, bytes);
  NEED_CONTEXT();
  return call.End(fake_gpu::Allocate(context, bytes, Space::kPinned, nullptr, nullptr, result));
}

CUresult cuMemFreeHost(void* address) {
  DRIVER_CALL(cuMemFreeHost, address);
  NEED_CONTEXT();
  if (address == nullptr) return CUDA_SUCCESS;
  fake_gpu::SynchronizeContext(context);
  return call.End(fake_gpu::Free(address, nullptr));
}

CUresult cuMemHostRegister_v2(void* address, size_t bytes, unsigned flags) {
  DRIVER_CALL(cuMemHostRegister_v2, address, bytes, flags);
  NEED_CONTEXT();
  return call.End(fake_gpu::Register(context, address, bytes));
}

CUresult cuMemHostUnregister(void* address) {
  DRIVER_CALL(cuMemHostUnregister, address);
  return call.End(fake_gpu::Free(address, nullptr));
}

#define COPY(name, type_to, type_from, to, from)                       \
  CUresult name(type_to destination, type_from source, size_t bytes) { \
    DRIVER_CALL(name, destination, source, bytes);                     \
    NEED_CONTEXT();                                                    \
    static_cast<void>(context);                                        \
    return call.End(Copy(to, from, bytes, nullptr, false));            \
  }
#define COPY_ASYNC(name, type_to, type_from, to, from)                                  \
  CUresult name(type_to destination, type_from source, size_t bytes, CUstream stream) { \
    DRIVER_CALL(name, destination, source, bytes, stream);                              \
    NEED_CONTEXT();                                                                     \
    static_cast<void>(context);                                                         \
    return call.End(Copy(to, from, bytes, stream, true));                               \
  }

COPY(cuMemcpyHtoD_v2, CUdeviceptr, const void*, PointerOf(destination), source)
COPY(cuMemcpyDtoH_v2, void*, CUdeviceptr, destination, PointerOf(source))
COPY(cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr, PointerOf(destination), PointerOf(source))
COPY(cuMemcpy, CUdeviceptr, CUdeviceptr, PointerOf(destination), PointerOf(source))
COPY_ASYNC(cuMemcpyHtoDAsync_v2, CUdeviceptr, const void*, PointerOf(destination), source)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, void*, CUdeviceptr, destination, PointerOf(source))
COPY_ASYNC(cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, PointerOf(destination),
           PointerOf(source))
COPY_ASYNC(cuMemcpyAsync, CUdeviceptr, CUdeviceptr, PointerOf(destination), PointerOf(source))

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext to, CUdeviceptr source,
                           CUcontext from, size_t bytes, CUstream stream) {
  DRIVER_CALL(cuMemcpyPeerAsync, destination, to, source, from, bytes, stream);
  return call.End(Copy(PointerOf(destination), PointerOf(source), bytes, stream, true));
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  DRIVER_CALL(cuMemsetD8_v2, to, value, count);
  return call.End(Set(to, value, 1, count, nullptr, false));
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  DRIVER_CALL(cuMemsetD32_v2, to, value, count);
  return call.End(Set(to, value, 4, count, nullptr, false));
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  DRIVER_CALL(cuMemsetD8Async, to, value, count, stream);
  return call.End(Set(to, value, 1, count, stream, true));
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  DRIVER_CALL(cuMemsetD32Async, to, value, count, stream);
  return call.End(Set(to, value, 4, count, stream, true));
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  DRIVER_CALL(cuMemAllocAsync, address, bytes, stream);
  NEED_CONTEXT();
  return call.End(AllocateFrom(fake_gpu::CurrentPool(context->device), address, bytes, stream));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  DRIVER_CALL(cuMemAllocFromPoolAsync, address, bytes, pool, stream);
  NEED_CONTEXT();
  static_cast<void>(context);
  if (pool == nullptr || !pool->alive.load()) return call.End(CUDA_ERROR_INVALID_VALUE);
  return call.End(AllocateFrom(pool, address, bytes, stream));
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  DRIVER_CALL(cuMemFreeAsync, address, stream);
  NEED_CONTEXT();
  return call.End(fake_gpu::Free(PointerOf(address), fake_gpu::Resolve(stream, context)));
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  DRIVER_CALL(cuMemPoolCreate, pool, properties);
  return call.End(fake_gpu::CreatePool(properties->location.id, pool));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  DRIVER_CALL(cuMemPoolDestroy, pool);
  return call.End(fake_gpu::DestroyPool(pool));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  DRIVER_CALL(cuMemPoolTrimTo, pool, keep);
  return call.End(fake_gpu::TrimPool(pool, keep));
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  DRIVER_CALL(cuMemPoolSetAttribute, pool, attribute, value);
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    pool->threshold = *static_cast<uint64_t*>(value);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  DRIVER_CALL(cuMemPoolGetAttribute, pool, attribute, value);
  const std::lock_guard lock(pool->mutex);
  auto* wide = static_cast<uint64_t*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *wide = pool->threshold;
      break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      *wide = pool->reserved;
      break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      *wide = pool->reserved_high;
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *wide = pool->used;
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *wide = pool->used_high;
      break;
    default:
      *static_cast<int*>(value) = 1;
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  DRIVER_CALL(cuDeviceGetDefaultMemPool, pool, device);
  *pool = fake_gpu::DefaultPool(device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  DRIVER_CALL(cuDeviceGetMemPool, pool, device);
  *pool = fake_gpu::CurrentPool(device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  DRIVER_CALL(cuDeviceSetMemPool, device, pool);
  fake_gpu::SetCurrentPool(device, pool);
  return CUDA_SUCCESS;
}
