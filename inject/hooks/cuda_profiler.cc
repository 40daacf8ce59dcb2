// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CUDA's profiler calls, by which a program says what is to be recorded (profiler_calls.h). The
// hooks are seen by calls that the loader binds: of a shared runtime, or of the linked driver. Each
// calls the real function, whatever --capture says.

#include "inject/cupti_functions.h"
#include "inject/hook_list.h"
#include "inject/profiler_calls.h"

namespace gpuprof::inject {
namespace {

// How the files' names begin. Wheels put a hash behind the runtime's name.
constexpr char kRuntime[] = "libcudart";
constexpr char kDriver[] = "libcuda.so";

// cudaErrorInitializationError and CUDA_ERROR_NOT_INITIALIZED: the library is not there.
constexpr int kNotInitialized = 3;

int Call(const char* library, const char* name, const void* caller, bool is_nested) {
  const CuptiFunction found = FindFunctionOf(library, name, caller, is_nested);
  if (found.function == nullptr) return kNotInitialized;
  return reinterpret_cast<int (*)()>(found.function)();
}

// The capture has in it what lies between the two calls, and neither call.
[[gnu::noinline]] int Run(const char* library, const char* name, const void* caller,
                          bool is_start) {
  const InProfilerCall here;
  const bool is_mark = here.is_outermost() && WatchesProfilerCalls();
  if (is_mark && !is_start) ProfilerCalled(/*is_start=*/false);
  const int result = Call(library, name, caller, !here.is_outermost());
  if (is_mark && is_start) ProfilerCalled(/*is_start=*/true);
  return result;
}

}  // namespace
}  // namespace gpuprof::inject

using namespace gpuprof::inject;

#define GPUPROF_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

extern "C" {

GPUPROF_EXPORT int cudaProfilerStart(void) {
  return Run(kRuntime, "cudaProfilerStart", GPUPROF_CALLER, /*is_start=*/true);
}

GPUPROF_EXPORT int cudaProfilerStop(void) {
  return Run(kRuntime, "cudaProfilerStop", GPUPROF_CALLER, /*is_start=*/false);
}

GPUPROF_EXPORT int cuProfilerStart(void) {
  return Run(kDriver, "cuProfilerStart", GPUPROF_CALLER, /*is_start=*/true);
}

GPUPROF_EXPORT int cuProfilerStop(void) {
  return Run(kDriver, "cuProfilerStop", GPUPROF_CALLER, /*is_start=*/false);
}

}  // extern "C"
