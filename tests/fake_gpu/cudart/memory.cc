// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory: allocations, pools, copies and sets.

#include "tests/fake_gpu/device/memory.h"

#include "tests/fake_gpu/cudart/runtime.h"

using fake_gpu_cudart::Address;
using fake_gpu_cudart::Own;
using fake_gpu_cudart::TheDriver;

namespace {

// With cudaMemcpyDefault the addresses tell; otherwise the program is believed, as the real one
// does.
CUresult Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return TheDriver().cuMemcpyHtoD_v2(Address(to), from, bytes);
    case cudaMemcpyDeviceToHost:
      return TheDriver().cuMemcpyDtoH_v2(to, Address(from), bytes);
    case cudaMemcpyDeviceToDevice:
      return TheDriver().cuMemcpyDtoD_v2(Address(to), Address(from), bytes);
    default:
      return TheDriver().cuMemcpy(Address(to), Address(from), bytes);
  }
}

CUresult CopyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return TheDriver().cuMemcpyHtoDAsync_v2(Address(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
      return TheDriver().cuMemcpyDtoHAsync_v2(to, Address(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
      return TheDriver().cuMemcpyDtoDAsync_v2(Address(to), Address(from), bytes, stream);
    default:
      return TheDriver().cuMemcpyAsync(Address(to), Address(from), bytes, stream);
  }
}

CUresult Allocate(void** result, size_t bytes) {
  CUdeviceptr address = 0;
  const CUresult status = TheDriver().cuMemAlloc_v2(&address, bytes);
  *result = reinterpret_cast<void*>(address);
  return status;
}

CUresult AllocateAsync(void** result, size_t bytes, CUstream stream) {
  CUdeviceptr address = 0;
  const CUresult status = TheDriver().cuMemAllocAsync(&address, bytes, stream);
  *result = reinterpret_cast<void*>(address);
  return status;
}

}  // namespace

cudaError_t cudaMalloc(void** result, size_t bytes) {
  RUNTIME_CALL(cudaMalloc, 3020, result, bytes);
  NEED_READY();
  FORWARD(Allocate(result, bytes));
}

cudaError_t cudaMallocManaged(void** result, size_t bytes, unsigned flags) {
  RUNTIME_CALL(cudaMallocManaged, 6000, result, bytes, flags);
  NEED_READY();
  CUdeviceptr address = 0;
  const CUresult status = TheDriver().cuMemAllocManaged(&address, bytes, flags);
  *result = reinterpret_cast<void*>(address);
  FORWARD(status);
}

cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  RUNTIME_CALL(cudaMemPrefetchAsync, 12020, address, bytes, location, flags, stream);
  NEED_READY();
  // The two interfaces number the kinds of places alike.
  const CUmemLocation place = {.type = static_cast<CUmemLocationType>(location.type),
                               .id = location.id};
  FORWARD(TheDriver().cuMemPrefetchAsync_v2(Address(address), bytes, place, flags, stream));
}

cudaError_t cudaFree(void* address) {
  RUNTIME_CALL(cudaFree, 3020, address);
  NEED_READY();
  FORWARD(TheDriver().cuMemFree_v2(Address(address)));
}

cudaError_t cudaHostAlloc(void** result, size_t bytes, unsigned flags) {
  RUNTIME_CALL(cudaHostAlloc, 3020, result, bytes, flags);
  NEED_READY();
  FORWARD(TheDriver().cuMemHostAlloc(result, bytes, flags));
}

cudaError_t cudaMallocHost(void** result, size_t bytes) {
  RUNTIME_CALL(cudaMallocHost, 3020, result, bytes);
  NEED_READY();
  FORWARD(TheDriver().cuMemHostAlloc(result, bytes, 0));
}

cudaError_t cudaFreeHost(void* address) {
  RUNTIME_CALL(cudaFreeHost, 3020, address);
  NEED_READY();
  FORWARD(TheDriver().cuMemFreeHost(address));
}

cudaError_t cudaHostRegister(void* address, size_t bytes, unsigned flags) {
  RUNTIME_CALL(cudaHostRegister, 4000, address, bytes, flags);
  NEED_READY();
  FORWARD(TheDriver().cuMemHostRegister_v2(address, bytes, flags));
}

cudaError_t cudaHostUnregister(void* address) {
  RUNTIME_CALL(cudaHostUnregister, 4000, address);
  NEED_READY();
  FORWARD(TheDriver().cuMemHostUnregister(address));
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  RUNTIME_CALL(cudaMemGetInfo, 3020, free, total);
  NEED_READY();
  FORWARD(TheDriver().cuMemGetInfo_v2(free, total));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  RUNTIME_CALL(cudaPointerGetAttributes, 4000, attributes, address);
  NEED_READY();
  *attributes = {};
  const fake_gpu::Allocation block = fake_gpu::AllocationOf(address);
  auto* pointer = const_cast<void*>(address);
  attributes->device = block.context != nullptr ? block.context->device : -1;
  attributes->hostPointer = block.space == fake_gpu::Space::kDevice ? nullptr : pointer;
  attributes->devicePointer = block.space == fake_gpu::Space::kPageable ? nullptr : pointer;
  const cudaMemoryType types[] = {cudaMemoryTypeUnregistered, cudaMemoryTypeUnregistered,
                                  cudaMemoryTypeHost,         cudaMemoryTypeDevice,
                                  cudaMemoryTypeUnregistered, cudaMemoryTypeManaged};
  attributes->type = types[static_cast<int>(block.space)];
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  RUNTIME_CALL(cudaMemcpy, 3020, to, from, bytes, kind);
  NEED_READY();
  FORWARD(Copy(to, from, bytes, kind));
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  RUNTIME_CALL(cudaMemcpyAsync, 3020, to, from, bytes, kind, stream);
  NEED_READY();
  FORWARD(CopyAsync(to, from, bytes, kind, stream));
}

extern "C" cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, size_t bytes,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
  RUNTIME_CALL(cudaMemcpyAsync_ptsz, 7000, to, from, bytes, kind, stream);
  NEED_READY();
  FORWARD(CopyAsync(to, from, bytes, kind, Own(stream)));
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  RUNTIME_CALL(cudaMemcpyPeerAsync, 4000, to, to_device, from, from_device, bytes, stream);
  NEED_READY();
  CUcontext to_context = nullptr, from_context = nullptr;
  TheDriver().cuDevicePrimaryCtxRetain(&to_context, to_device);
  TheDriver().cuDevicePrimaryCtxRetain(&from_context, from_device);
  FORWARD(TheDriver().cuMemcpyPeerAsync(Address(to), to_context, Address(from), from_context, bytes,
                                        stream));
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  RUNTIME_CALL(cudaMemset, 3020, to, value, bytes);
  NEED_READY();
  FORWARD(TheDriver().cuMemsetD8_v2(Address(to), static_cast<unsigned char>(value), bytes));
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  RUNTIME_CALL(cudaMemsetAsync, 3020, to, value, bytes, stream);
  NEED_READY();
  FORWARD(
      TheDriver().cuMemsetD8Async(Address(to), static_cast<unsigned char>(value), bytes, stream));
}

extern "C" cudaError_t cudaMemsetAsync_ptsz(void* to, int value, size_t bytes,
                                            cudaStream_t stream) {
  RUNTIME_CALL(cudaMemsetAsync_ptsz, 7000, to, value, bytes, stream);
  NEED_READY();
  FORWARD(TheDriver().cuMemsetD8Async(Address(to), static_cast<unsigned char>(value), bytes,
                                      Own(stream)));
}

cudaError_t cudaMallocAsync(void** result, size_t bytes, cudaStream_t stream) {
  RUNTIME_CALL(cudaMallocAsync, 11020, result, bytes, stream);
  NEED_READY();
  FORWARD(AllocateAsync(result, bytes, stream));
}

extern "C" cudaError_t cudaMallocAsync_ptsz(void** result, size_t bytes, cudaStream_t stream) {
  RUNTIME_CALL(cudaMallocAsync_ptsz, 11020, result, bytes, stream);
  NEED_READY();
  FORWARD(AllocateAsync(result, bytes, Own(stream)));
}

cudaError_t cudaMallocFromPoolAsync(void** result, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  RUNTIME_CALL(cudaMallocFromPoolAsync, 11020, result, bytes, pool, stream);
  NEED_READY();
  CUdeviceptr address = 0;
  const CUresult status = TheDriver().cuMemAllocFromPoolAsync(&address, bytes, pool, stream);
  *result = reinterpret_cast<void*>(address);
  FORWARD(status);
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  RUNTIME_CALL(cudaFreeAsync, 11020, address, stream);
  NEED_READY();
  FORWARD(TheDriver().cuMemFreeAsync(Address(address), stream));
}

extern "C" cudaError_t cudaFreeAsync_ptsz(void* address, cudaStream_t stream) {
  RUNTIME_CALL(cudaFreeAsync_ptsz, 11020, address, stream);
  NEED_READY();
  FORWARD(TheDriver().cuMemFreeAsync(Address(address), Own(stream)));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  RUNTIME_CALL(cudaMemPoolCreate, 11020, pool, properties);
  NEED_READY();
  CUmemPoolProps driver_properties{};
  driver_properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  driver_properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, properties->location.id};
  FORWARD(TheDriver().cuMemPoolCreate(pool, &driver_properties));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  RUNTIME_CALL(cudaMemPoolDestroy, 11020, pool);
  FORWARD(TheDriver().cuMemPoolDestroy(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  RUNTIME_CALL(cudaMemPoolTrimTo, 11020, pool, keep);
  FORWARD(TheDriver().cuMemPoolTrimTo(pool, keep));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  RUNTIME_CALL(cudaMemPoolSetAttribute, 11020, pool, attribute, value);
  FORWARD(
      TheDriver().cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  RUNTIME_CALL(cudaMemPoolGetAttribute, 11020, pool, attribute, value);
  FORWARD(
      TheDriver().cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  RUNTIME_CALL(cudaDeviceGetDefaultMemPool, 11020, pool, device);
  NEED_READY();
  FORWARD(TheDriver().cuDeviceGetDefaultMemPool(pool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  RUNTIME_CALL(cudaDeviceGetMemPool, 11020, pool, device);
  NEED_READY();
  FORWARD(TheDriver().cuDeviceGetMemPool(pool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  RUNTIME_CALL(cudaDeviceSetMemPool, 11020, device, pool);
  NEED_READY();
  FORWARD(TheDriver().cuDeviceSetMemPool(device, pool));
}
