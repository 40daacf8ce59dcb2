// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// argv[2] threads (8) launch in 16 streams each: argv[1] kernels a stream (50). All are there until
// the last has launched.

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

__global__ void Work(int thread, int stream) {}

static std::atomic<int> launching{0};

static void Run(int thread, int kernels) {
  std::vector<cudaStream_t> streams(16);
  for (auto& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < kernels; ++i) {
    for (int s = 0; s < 16; ++s) Work<<<thread + 1, 32, 0, streams[s]>>>(thread, s);
  }
  for (auto& stream : streams) CHECK(cudaStreamSynchronize(stream));
  for (--launching; launching.load() > 0;) std::this_thread::yield();
}

int main(int argc, char** argv) {
  const int kernels = argc > 1 ? atoi(argv[1]) : 50;
  const int count = argc > 2 ? atoi(argv[2]) : 8;
  launching = count;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(Run, i, kernels);
  for (auto& thread : threads) thread.join();
  CHECK(cudaDeviceSynchronize());
  printf("launched %d\n", count * 16 * kernels);
  return 0;
}
