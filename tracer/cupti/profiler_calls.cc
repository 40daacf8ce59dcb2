// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/profiler_calls.h"

#include <string.h>

#include <atomic>

#include "tracer/cupti/abi.h"

namespace gpuprof::tracer::cupti {
namespace {

// 0: not known.
std::atomic<uint32_t> g_start{0}, g_stop{0};

uint32_t Find(const FunctionNames& names, const char* wanted) {
  for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
    const char* name = names.name[kDriverApi][id];
    if (name != nullptr && strcmp(name, wanted) == 0) return id;
  }
  return 0;
}

}  // namespace

bool EnableProfilerCalls(const FunctionNames& names, Subscriber* subscriber) {
  const uint32_t start = Find(names, "cuProfilerStart"), stop = Find(names, "cuProfilerStop");
  g_start.store(start);
  g_stop.store(stop);
  return start != 0 && stop != 0 && subscriber->EnableCallback(kDriverApi, start) == kSuccess &&
         subscriber->EnableCallback(kDriverApi, stop) == kSuccess;
}

bool OnProfilerCall(const Host& host, uint32_t id, const void* data) {
  const bool is_start = id == g_start.load(std::memory_order_relaxed);
  if (!is_start && id != g_stop.load(std::memory_order_relaxed)) return false;
  // A capture begins after the one call and ends before the other.
  const uint32_t site = Record(data, callback_data::kBytes).U32(callback_data::kSite);
  if (site == (is_start ? kApiExit : kApiEnter)) host.profiler_call(is_start);
  return true;
}

}  // namespace gpuprof::tracer::cupti
