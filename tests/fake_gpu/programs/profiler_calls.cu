// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// argv[1]: one letter for each thing to do, in order:
//   s x   the profiler's start and stop      k   a kernel, whose grid is one wider each time
//   t     a thread does what follows to the end
// argv[2]: whose functions the profiler's are:
//   runtime   cudaProfilerStart of the shared runtime
//   driver    cuProfilerStart, as the loader binds it
//   entry     the driver's own, by cuGetProcAddress, as a static runtime has them
// With `entry` the first call of all comes right after cuInit.

#include <cuda.h>
#include <cuda_profiler_api.h>
#include <dlfcn.h>

#include <string>
#include <thread>

#include "check.h"

__global__ void Inside() {}

static int (*g_start)(), (*g_stop)();
static unsigned g_width = 1;

static void Run(const char* what) {
  for (; *what != 0; ++what) {
    if (*what == 's' && g_start() != 0) exit(3);
    if (*what == 'x' && g_stop() != 0) exit(4);
    if (*what == 'k') Inside<<<g_width++, 32>>>();
    if (*what == 't') return std::thread(Run, what + 1).join();
  }
}

template <typename Function>
static Function Find(void* handle, const char* name) {
  const auto found = reinterpret_cast<Function>(dlsym(handle, name));
  if (found == nullptr) exit(5);
  return found;
}

static void TakeEntries(void* driver) {
  Find<int (*)(unsigned)>(driver, "cuInit")(0);
  using Ask = int (*)(const char*, void**, int, uint64_t, void*);
  const auto ask = Find<Ask>(driver, "cuGetProcAddress_v2");
  ask("cuProfilerStart", reinterpret_cast<void**>(&g_start), 13000, 0, nullptr);
  ask("cuProfilerStop", reinterpret_cast<void**>(&g_stop), 13000, 0, nullptr);
}

int main(int argc, char** argv) {
  const std::string kind = argc > 2 ? argv[2] : "runtime";
  g_start = [] { return static_cast<int>(cudaProfilerStart()); };
  g_stop = [] { return static_cast<int>(cudaProfilerStop()); };
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (kind == "driver") {
    CHECK(cudaFree(nullptr));
    g_start = Find<int (*)()>(RTLD_DEFAULT, "cuProfilerStart");
    g_stop = Find<int (*)()>(RTLD_DEFAULT, "cuProfilerStop");
  } else if (kind == "entry") {
    TakeEntries(driver);
  }
  Run(argc > 1 ? argv[1] : "");
  CHECK(cudaDeviceSynchronize());
  printf("%u kernels\n", g_width - 1);
  return 0;
}
