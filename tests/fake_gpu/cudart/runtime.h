// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the files of the runtime's double share. Like the real one it finds the driver with dlopen
// at its first need, so that a machine without a driver has a runtime all the same, and makes every
// call through it, so that a tool sees driver calls nested in the runtime's.

#pragma once

#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>

// cuda_runtime_api.h hides these behind names of older versions, which nothing here uses.
#include <generated_cuda_runtime_api_meta.h>

#include "tests/fake_gpu/device/call.h"

namespace fake_gpu_cudart {

struct Driver {
#define FAKE_GPU_ENTRY(name) decltype(&::name) name = nullptr;
#include "tests/fake_gpu/cudart/entries.inc"
#undef FAKE_GPU_ENTRY
  bool present = false;
};

const Driver& TheDriver();

// Remembers the error for cudaGetLastError.
cudaError_t Remember(cudaError_t error);

// Initialises the driver and makes the primary context of the thread's device current.
cudaError_t Ready();

int CurrentDevice();

// The device's function behind a host stub's address; null when it was never registered.
CUfunction FunctionOf(const void* host_function);

inline cudaError_t From(CUresult result) { return static_cast<cudaError_t>(result); }

template <typename T>
inline CUdeviceptr Address(T* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

// The null stream of a _ptsz entry point is the thread's own.
inline CUstream Own(CUstream stream) { return stream == nullptr ? CU_STREAM_PER_THREAD : stream; }

}  // namespace fake_gpu_cudart

#define FAKE_GPU_RUNTIME_CALL(name, version, pointer)                                             \
  fake_gpu::CallScope call(fake_gpu::Domain::kRuntime,                                            \
                           CUPTI_RUNTIME_TRACE_CBID_##name##_v##version, #name, pointer, nullptr, \
                           __builtin_return_address(0));                                          \
  if (call.refusal() != 0)                                                                        \
  return call.End(fake_gpu_cudart::Remember(static_cast<cudaError_t>(call.refusal())))

#define RUNTIME_CALL(name, version, ...)              \
  name##_v##version##_params parameters{__VA_ARGS__}; \
  FAKE_GPU_RUNTIME_CALL(name, version, &parameters)

#define RUNTIME_CALL_0(name, version) FAKE_GPU_RUNTIME_CALL(name, version, nullptr)

// Also ends the call when there is no driver, device or context.
#define NEED_READY()                                                            \
  if (const cudaError_t ready = fake_gpu_cudart::Ready(); ready != cudaSuccess) \
  return call.End(fake_gpu_cudart::Remember(ready))

// Ends the call with what the driver answers.
#define FORWARD(result) return call.End(fake_gpu_cudart::Remember(fake_gpu_cudart::From(result)))
