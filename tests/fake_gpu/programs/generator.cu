// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Launches argv[1] empty kernels (1000000) as fast as it can on argv[2] threads (1); tells the
// rate.

#include <chrono>
#include <thread>
#include <vector>

#include "check.h"

__global__ void Empty() {}

static void Run(long launches) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (long i = 0; i < launches; ++i) Empty<<<1, 32, 0, stream>>>();
  CHECK(cudaStreamSynchronize(stream));
}

int main(int argc, char** argv) {
  const long launches = argc > 1 ? atol(argv[1]) : 1000000;
  const int count = argc > 2 ? atoi(argv[2]) : 1;
  CHECK(cudaFree(nullptr));
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 1; i < count; ++i) threads.emplace_back(Run, launches / count);
  Run(launches - launches / count * (count - 1));
  for (auto& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  printf("%ld launches, %.1f ns each\n", launches, took.count() * 1e9 / launches);
  return 0;
}
