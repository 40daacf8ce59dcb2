// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ends while detached threads go on calling CUDA, which fails them once the driver has gone.

#include <unistd.h>

#include <thread>

#include "check.h"

__global__ void Work() {}

int main() {
  Work<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      for (;;) {
        void* memory = nullptr;
        Work<<<1, 32>>>();
        if (cudaMalloc(&memory, 100) == cudaSuccess) cudaFree(memory);
      }
    }).detach();
  }
  usleep(300000);
  exit(5);
}
