// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// InitializeInjection: what the CUDA driver calls in the object that CUDA_INJECTION64_PATH names,
// once, inside the program's first cuInit, on the thread that made that call. Loads whatever the
// variable named before us as well. Where a capture runs, GPU activity is recorded from here on, so
// that not even the first launch is missed.

#include "inject/cuda_injection.h"

#include "inject/chained_tool.h"
#include "inject/control_thread.h"
#include "inject/entry.h"
#include "inject/hook_list.h"
#include "inject/lifecycle.h"
#include "inject/profiler_calls.h"
#include "inject/state.h"

namespace gpuprof::inject {

constinit std::atomic<uint32_t> g_cuda_started{0};

namespace {

using Initialize = int (*)();

// The tool that had the variable before: it expects the same call.
void RunChained() {
  const auto initialize = reinterpret_cast<Initialize>(
      ChainedEntry(proto::kEnvChainedInjection, "CUDA_INJECTION64_PATH", "InitializeInjection"));
  if (initialize != nullptr) initialize();
}

}  // namespace
}  // namespace gpuprof::inject

using namespace gpuprof::inject;

extern "C" GPUPROF_EXPORT int InitializeInjection(void) {
  static std::atomic<uint32_t> calls{0};
  EnsureEntered();
  if (g_settings.bundle[0] == 0 || calls.fetch_add(1) != 0) return 1;
  RunChained();
  StartGpu();
  WatchProfilerCallsInInit();
  // From here on the control thread may call CUPTI too. Not before: it would wait for cuInit, and
  // this thread for it.
  g_cuda_started.store(1);
  // Some of it CUPTI takes only once cuInit has returned.
  if ((g_settings.sources & gpuprof::proto::kSourceUnifiedMemory) != 0) RequestTick();
  return 1;
}
