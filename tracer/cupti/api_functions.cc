// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/api_functions.h"

#include <cstring>
#include <initializer_list>

namespace gpuprof::tracer::cupti {
namespace {

// Calls that do nothing but look: programs make them by the thousand.
constexpr const char* kIdleCalls[] = {"cudaGetDevice",
                                      "cudaSetDevice",
                                      "cudaGetLastError",
                                      "cudaPeekAtLastError",
                                      "cudaStreamIsCapturing",
                                      "cudaStreamGetCaptureInfo",
                                      "__cudaPushCallConfiguration",
                                      "__cudaPopCallConfiguration"};

// How the names of the driver's begin that are recorded.
constexpr const char* kDriverCalls[] = {"cuLaunch",
                                        "cuGraphLaunch",
                                        "cuMemcpy",
                                        "cuMemset",
                                        "cuMemAlloc",
                                        "cuMemFree",
                                        "cuMemHostAlloc",
                                        "cuMemHostRegister",
                                        "cuMemHostUnregister",
                                        "cuMemCreate",
                                        "cuMemRelease",
                                        "cuMemMap",
                                        "cuMemUnmap",
                                        "cuMemAddress",
                                        "cuMemPrefetch",
                                        "cuMemBatchDecompress",
                                        "cuCtxSynchronize",
                                        "cuStreamSynchronize",
                                        "cuStreamBeginCapture",
                                        "cuStreamEndCapture",
                                        "cuStreamWaitEvent",
                                        "cuEventRecord",
                                        "cuEventSynchronize"};

bool IsIdle(const char* name) {
  for (const char* idle : kIdleCalls) {
    const size_t length = strlen(idle);
    if (strncmp(name, idle, length) == 0 && (name[length] == 0 || name[length] == '_')) return true;
  }
  return false;
}

}  // namespace

bool IsRecordedFunction(Domain domain, const char* name) {
  if (domain == kRuntimeApi) return name == nullptr || !IsIdle(name);
  if (name == nullptr) return false;
  for (const char* beginning : kDriverCalls) {
    if (strncmp(name, beginning, strlen(beginning)) == 0) return true;
  }
  return false;
}

bool IsEventRecordFunction(const char* name) {
  if (name == nullptr) return false;
  return strncmp(name, "cudaEventRecord", 15) == 0 || strncmp(name, "cuEventRecord", 13) == 0;
}

bool IsGraphLaunchFunction(const char* name) {
  if (name == nullptr) return false;
  return strncmp(name, "cudaGraphLaunch", 15) == 0 || strncmp(name, "cuGraphLaunch", 13) == 0;
}

void FindFunctions(const Functions& library, FunctionNames* names) {
  for (const Domain domain : {kDriverApi, kRuntimeApi}) {
    for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
      const char* name = nullptr;
      if (library.get_callback_name != nullptr &&
          library.get_callback_name(domain, id, &name) == kSuccess)
        names->name[domain][id] = name;
      name = names->name[domain][id];
      names->any |= name != nullptr;
      names->is_recorded[domain][id] = IsRecordedFunction(domain, name);
      names->is_event_record[domain][id] = IsEventRecordFunction(name);
      names->is_graph_launch[domain][id] = IsGraphLaunchFunction(name);
    }
  }
}

}  // namespace gpuprof::tracer::cupti
