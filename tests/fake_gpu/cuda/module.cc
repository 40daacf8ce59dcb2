// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Modules, libraries, functions and launches.

#include "tests/fake_gpu/device/module.h"

#include "tests/fake_gpu/cuda/driver.h"
#include "tests/fake_gpu/device/work.h"

using fake_gpu::current_context;

namespace {

int AttributeOf(CUfunction function, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return function->static_smem;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return function->registers;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return 80;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return function->max_dynamic_smem;
    default:
      return 0;
  }
}

CUresult Launch(const fake_gpu::KernelWork& kernel, CUstream stream) {
  if (kernel.function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const uint64_t threads = uint64_t{kernel.block.x} * kernel.block.y * kernel.block.z;
  if (threads == 0 || threads > 1024 || kernel.grid.x == 0 || kernel.grid.y == 0 ||
      kernel.grid.z == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  fake_gpu::Work work;
  work.type = fake_gpu::Work::Type::kKernel;
  work.kernel = kernel;
  return fake_gpu::Enqueue(work, fake_gpu::Resolve(stream, current_context));
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  DRIVER_CALL(cuModuleLoadData, module, image);
  NEED_CONTEXT();
  *module = fake_gpu::LoadModule(image, context);
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  DRIVER_CALL(cuModuleLoadDataEx, module, image, count, options, values);
  NEED_CONTEXT();
  *module = fake_gpu::LoadModule(image, context);
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  DRIVER_CALL(cuModuleLoadFatBinary, module, image);
  NEED_CONTEXT();
  *module = fake_gpu::LoadModule(image, context);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  DRIVER_CALL(cuModuleUnload, module);
  fake_gpu::UnloadModule(module, current_context);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  DRIVER_CALL(cuModuleGetFunction, function, module, name);
  *function = fake_gpu::FunctionOf(module, name);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  DRIVER_CALL(cuModuleGetLoadingMode, mode);
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption* library_options,
                           void** library_values, unsigned library_count) {
  DRIVER_CALL(cuLibraryLoadData, library, code, options, values, count, library_options,
              library_values, library_count);
  *library = new CUlib_st;
  (*library)->module = fake_gpu::LoadModule(code, current_context);
  return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library) {
  DRIVER_CALL(cuLibraryUnload, library);
  fake_gpu::UnloadModule(library->module, current_context);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  DRIVER_CALL(cuLibraryGetModule, module, library);
  *module = library->module;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  DRIVER_CALL(cuLibraryGetKernel, kernel, library, name);
  *kernel = reinterpret_cast<CUkernel>(fake_gpu::FunctionOf(library->module, name));
  return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  DRIVER_CALL(cuKernelGetFunction, function, kernel);
  *function = &kernel->function;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  DRIVER_CALL(cuFuncGetName, name, function);
  *name = function->name;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  DRIVER_CALL(cuKernelGetName, name, kernel);
  *name = kernel->function.name;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  DRIVER_CALL(cuFuncGetAttribute, value, attribute, function);
  *value = AttributeOf(function, attribute);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  DRIVER_CALL(cuFuncSetAttribute, function, attribute, value);
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    function->max_dynamic_smem = value;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  DRIVER_CALL(cuFuncSetCacheConfig, function, config);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int size, size_t smem,
                                                              unsigned flags) {
  DRIVER_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, function, size, smem,
              flags);
  if (size <= 0) return call.End(CUDA_ERROR_INVALID_VALUE);
  *blocks = 2048 / ((size + 31) / 32 * 32);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned smem,
                        CUstream stream, void** arguments, void** extra) {
  cuLaunchKernel_params parameters{function, grid_x, grid_y, grid_z,    block_x, block_y,
                                   block_z,  smem,   stream, arguments, extra};
  fake_gpu::CallScope call(
      fake_gpu::Domain::kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel",
      &parameters, function != nullptr ? function->name : nullptr, __builtin_return_address(0));
  if (call.refusal() != 0) return call.End(static_cast<CUresult>(call.refusal()));
  return call.End(Launch({.function = function,
                          .grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .dynamic_smem = smem},
                         stream));
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                          void** extra) {
  cuLaunchKernelEx_params parameters{config, function, arguments, extra};
  fake_gpu::CallScope call(
      fake_gpu::Domain::kDriver, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "cuLaunchKernelEx",
      &parameters, function != nullptr ? function->name : nullptr, __builtin_return_address(0));
  if (call.refusal() != 0) return call.End(static_cast<CUresult>(call.refusal()));
  fake_gpu::KernelWork kernel{.function = function,
                              .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                              .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                              .dynamic_smem = config->sharedMemBytes};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      kernel.cooperative = attribute.value.cooperative;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& cluster = attribute.value.clusterDim;
      kernel.cluster = {cluster.x, cluster.y, cluster.z};
    }
  }
  return call.End(Launch(kernel, config->hStream));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned smem, CUstream stream,
                                   void** arguments) {
  DRIVER_CALL(cuLaunchCooperativeKernel, function, grid_x, grid_y, grid_z, block_x, block_y,
              block_z, smem, stream, arguments);
  return call.End(Launch({.function = function,
                          .grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .dynamic_smem = smem,
                          .cooperative = true},
                         stream));
}
