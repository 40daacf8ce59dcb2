// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// argv[1] threads (6), one after the other, each pushes an NVTX range, launches five kernels, waits
// for them, pops, and ends; then for a while nothing happens, so that each has gone before the
// program does.

#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <thread>

#include "check.h"

__global__ void Brief() {}

static void Run() {
  nvtxRangePushA("brief");
  for (int i = 0; i < 5; ++i) Brief<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize());
  nvtxRangePop();
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 6;
  CHECK(cudaFree(nullptr));
  for (int i = 0; i < count; ++i) std::thread(Run).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  printf("%d threads\n", count);
  return 0;
}
