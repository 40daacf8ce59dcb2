// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the files of the driver's double share: every entry point begins with DRIVER_CALL, which
// makes the call known to tools and returns what the script or the process's state demands.

#pragma once

#include <cuda.h>
#include <cudaProfiler.h>
#include <cupti_driver_cbid.h>

// The header of parameters names types of CUDA 3.1 that cuda.h no longer tells.
using CUdeviceptr_v1 = unsigned int;
struct CUDA_MEMCPY2D_v1;
struct CUDA_MEMCPY3D_v1;
struct CUDA_ARRAY_DESCRIPTOR_v1;
struct CUDA_ARRAY3D_DESCRIPTOR_v1;

#include <generated_cuda_meta.h>

#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/device.h"

#define FAKE_GPU_DRIVER_CALL(name, pointer)                                                  \
  fake_gpu::CallScope call(fake_gpu::Domain::kDriver, CUPTI_DRIVER_TRACE_CBID_##name, #name, \
                           pointer, nullptr, __builtin_return_address(0));                   \
  if (call.refusal() != 0) return call.End(static_cast<CUresult>(call.refusal()))

#define DRIVER_CALL(name, ...)           \
  name##_params parameters{__VA_ARGS__}; \
  FAKE_GPU_DRIVER_CALL(name, &parameters)

#define DRIVER_CALL_0(name) FAKE_GPU_DRIVER_CALL(name, nullptr)

// Also ends the call when the thread has no live context.
#define NEED_CONTEXT()                                                       \
  CUcontext const context = fake_gpu::current_context;                       \
  if (context == nullptr || !context->alive.load(std::memory_order_relaxed)) \
  return call.End(CUDA_ERROR_INVALID_CONTEXT)

namespace fake_gpu_cuda {

// cuInit has been called, with success.
bool Initialized();

template <typename To = void>
inline To* PointerOf(CUdeviceptr address) {
  return reinterpret_cast<To*>(address);
}

}  // namespace fake_gpu_cuda
