// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/launch_stacks.h"

#include <string.h>

#include "proto/schema.h"
#include "tracer/cupti/abi.h"

namespace gpuprof::tracer::cupti {
namespace {

// By the beginnings of their names: what follows is a variant (_ptsz, ExC) or a version.
constexpr const char* kLaunches[] = {"cudaLaunchKernel",          "cudaLaunchCooperativeKernel",
                                     "cudaGraphLaunch",           "cuLaunchKernel",
                                     "cuLaunchCooperativeKernel", "cuGraphLaunch"};

// The last launch of this thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local uint32_t last_correlation = 0;

}  // namespace

bool IsLaunch(const char* name) {
  if (name == nullptr) return false;
  while (*name == '_') ++name;
  for (const char* launch : kLaunches) {
    if (strncmp(name, launch, strlen(launch)) == 0) return true;
  }
  return false;
}

void OnLaunch(const Host& host, uint32_t domain, uint32_t id, const void* data, const void* frame) {
  const Record call(data, callback_data::kBytes);
  if (call.U32(callback_data::kSite) != kApiEnter) return;
  const uint32_t correlation = call.U32(callback_data::kCorrelation);
  if (correlation == 0 || correlation == last_correlation) return;
  last_correlation = correlation;
  host.record_launch(correlation, proto::ApiFunction(domain, id), frame);
}

}  // namespace gpuprof::tracer::cupti
