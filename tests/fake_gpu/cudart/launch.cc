// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What nvcc's host code calls: registration of fat binaries and their functions, and launches. A
// binary is loaded into the driver at the first use of a function of it, as lazy loading does.

#include <map>
#include <mutex>

#include "tests/fake_gpu/cudart/runtime.h"
#include "tests/fake_gpu/device/script.h"

using fake_gpu_cudart::FunctionOf;
using fake_gpu_cudart::Own;
using fake_gpu_cudart::Remember;
using fake_gpu_cudart::TheDriver;

namespace fake_gpu_cudart {
namespace {

struct Binary {
  void* image = nullptr;
  CUlibrary library = nullptr;
};

struct Registered {
  Binary* binary = nullptr;
  const char* name = nullptr;
  CUfunction function = nullptr;
};

struct State {
  std::mutex mutex;
  std::map<const void*, Registered> functions;
};

State& TheState() {
  static State* const state = new State;
  return *state;
}

struct Configuration {
  dim3 grid, block;
  size_t smem = 0;
  void* stream = nullptr;
};

thread_local Configuration configuration;

CUresult Launch(CUfunction function, dim3 grid, dim3 block, void** arguments, size_t smem,
                CUstream stream) {
  return TheDriver().cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                    static_cast<unsigned>(smem), stream, arguments, nullptr);
}

cudaError_t LaunchExtended(const cudaLaunchConfig_t* config, const void* host, void** arguments,
                           CUstream stream) {
  CUfunction function = FunctionOf(host);
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  // The attributes' numbers and values are the same in both interfaces.
  const CUlaunchConfig driver{config->gridDim.x,
                              config->gridDim.y,
                              config->gridDim.z,
                              config->blockDim.x,
                              config->blockDim.y,
                              config->blockDim.z,
                              static_cast<unsigned>(config->dynamicSmemBytes),
                              stream,
                              reinterpret_cast<CUlaunchAttribute*>(config->attrs),
                              config->numAttrs};
  return From(TheDriver().cuLaunchKernelEx(&driver, function, arguments, nullptr));
}

}  // namespace

CUfunction FunctionOf(const void* host_function) {
  State& state = TheState();
  const std::lock_guard lock(state.mutex);
  const auto found = state.functions.find(host_function);
  if (found == state.functions.end()) return nullptr;
  Registered& registered = found->second;
  if (registered.function != nullptr) return registered.function;
  Binary& binary = *registered.binary;
  const Driver& driver = TheDriver();
  if (binary.library == nullptr) {
    driver.cuLibraryLoadData(&binary.library, binary.image, nullptr, nullptr, 0, nullptr, nullptr,
                             0);
  }
  CUkernel kernel = nullptr;
  if (binary.library != nullptr)
    driver.cuLibraryGetKernel(&kernel, binary.library, registered.name);
  if (kernel != nullptr) registered.function = &kernel->function;
  return registered.function;
}

}  // namespace fake_gpu_cudart

extern "C" {

void** __cudaRegisterFatBinary(void* image) {
  auto* binary = new fake_gpu_cudart::Binary;
  binary->image = image;
  return reinterpret_cast<void**>(binary);
}

void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
void __cudaUnregisterFatBinary(void** /*handle*/) {}
char __cudaInitModule(void** /*handle*/) { return 1; }

void __cudaRegisterFunction(void** handle, const char* host, char* /*device*/, const char* name,
                            int /*limit*/, uint3* /*tid*/, uint3* /*bid*/, dim3* /*block*/,
                            dim3* /*grid*/, int* /*warp*/) {
  auto* binary = reinterpret_cast<fake_gpu_cudart::Binary*>(handle);
  auto& state = fake_gpu_cudart::TheState();
  const std::lock_guard lock(state.mutex);
  state.functions[host] = {binary, name, nullptr};
}

void __cudaRegisterVar(void** /*handle*/, char* /*host*/, char* /*device*/, const char* /*name*/,
                       int /*ext*/, size_t /*size*/, int /*constant*/, int /*global*/) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t smem, CUstream_st* stream) {
  fake_gpu_cudart::configuration = {grid, block, smem, stream};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* smem, void* stream) {
  const auto& configuration = fake_gpu_cudart::configuration;
  *grid = configuration.grid;
  *block = configuration.block;
  *smem = configuration.smem;
  *static_cast<void**>(stream) = configuration.stream;
  return cudaSuccess;
}

// Stubs keep the handle in a static of their own, and ask for it before the device is initialised.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  if (const cudaError_t ready = fake_gpu_cudart::Ready(); ready != cudaSuccess)
    return Remember(ready);
  CUfunction function = FunctionOf(host);
  *kernel = reinterpret_cast<cudaKernel_t>(function);
  return Remember(function != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

#define LAUNCH(cbid, api, version, function, stream)                                               \
  api##_v##version##_params parameters{kernel, grid, block, arguments, smem, given_stream};        \
  CUfunction found = function;                                                                     \
  fake_gpu::CallScope call(fake_gpu::Domain::kRuntime, cbid, #api, &parameters,                    \
                           found != nullptr ? found->name : nullptr, __builtin_return_address(0)); \
  if (call.refusal() != 0) return call.End(Remember(static_cast<cudaError_t>(call.refusal())));    \
  NEED_READY();                                                                                    \
  if (found == nullptr) return call.End(Remember(cudaErrorInvalidDeviceFunction));                 \
  FORWARD(fake_gpu_cudart::Launch(found, grid, block, arguments, smem, stream))

// What a tool is told of it is scripted: on a real device nobody has looked yet.
cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments,
                               size_t smem, cudaStream_t given_stream) {
  const void* kernel = handle;
  static const uint32_t cbid = fake_gpu::TheScript().launch_cbid;
  LAUNCH(cbid, cudaLaunchKernel, 7000, reinterpret_cast<CUfunction>(handle), given_stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments,
                                    size_t smem, cudaStream_t given_stream) {
  const void* kernel = handle;
  LAUNCH(CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000, cudaLaunchKernel_ptsz, 7000,
         reinterpret_cast<CUfunction>(handle), Own(given_stream));
}

cudaError_t cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                  size_t smem, cudaStream_t given_stream) {
  LAUNCH(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000, cudaLaunchKernel_ptsz, 7000,
         FunctionOf(kernel), Own(given_stream));
}

}  // extern "C"

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t smem, cudaStream_t given_stream) {
  LAUNCH(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, cudaLaunchKernel, 7000,
         FunctionOf(kernel), given_stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
  RUNTIME_CALL(cudaLaunchKernelExC, 11060, config, kernel, arguments);
  NEED_READY();
  return call.End(
      Remember(fake_gpu_cudart::LaunchExtended(config, kernel, arguments, config->stream)));
}

cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t smem, cudaStream_t stream) {
  RUNTIME_CALL(cudaLaunchCooperativeKernel, 9000, kernel, grid, block, arguments, smem, stream);
  NEED_READY();
  FORWARD(TheDriver().cuLaunchCooperativeKernel(FunctionOf(kernel), grid.x, grid.y, grid.z, block.x,
                                                block.y, block.z, static_cast<unsigned>(smem),
                                                stream, arguments));
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  RUNTIME_CALL(cudaFuncGetAttributes, 3020, attributes, kernel);
  NEED_READY();
  CUfunction function = FunctionOf(kernel);
  if (function == nullptr) return call.End(Remember(cudaErrorInvalidDeviceFunction));
  *attributes = {};
  attributes->sharedSizeBytes = static_cast<size_t>(function->static_smem);
  attributes->numRegs = function->registers;
  attributes->maxThreadsPerBlock = 1024;
  attributes->maxDynamicSharedSizeBytes = function->max_dynamic_smem;
  attributes->ptxVersion = attributes->binaryVersion = 80;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  RUNTIME_CALL(cudaFuncSetAttribute, 9000, kernel, attribute, value);
  NEED_READY();
  FORWARD(TheDriver().cuFuncSetAttribute(FunctionOf(kernel),
                                         static_cast<CUfunction_attribute>(attribute), value));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int size, size_t smem,
                                                                   unsigned flags) {
  RUNTIME_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, blocks, kernel, size,
               smem, flags);
  NEED_READY();
  FORWARD(TheDriver().cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, FunctionOf(kernel), size, smem, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int size,
                                                          size_t smem) {
  RUNTIME_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, 6050, blocks, kernel, size, smem);
  NEED_READY();
  FORWARD(TheDriver().cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, FunctionOf(kernel), size, smem, 0));
}
