// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// 8 threads launch in 16 streams each: argv[1] kernels a stream (50).

#include <thread>
#include <vector>

#include "check.h"

__global__ void Work(int thread, int stream) {}

static void Run(int thread, int kernels) {
  std::vector<cudaStream_t> streams(16);
  for (auto& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < kernels; ++i) {
    for (int s = 0; s < 16; ++s) Work<<<thread + 1, 32, 0, streams[s]>>>(thread, s);
  }
  for (auto& stream : streams) CHECK(cudaStreamSynchronize(stream));
}

int main(int argc, char** argv) {
  const int kernels = argc > 1 ? atoi(argv[1]) : 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(Run, i, kernels);
  for (auto& thread : threads) thread.join();
  CHECK(cudaDeviceSynchronize());
  printf("launched %d\n", 8 * 16 * kernels);
  return 0;
}
