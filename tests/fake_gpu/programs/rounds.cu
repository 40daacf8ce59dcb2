// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// For each number N on stdin: 8 threads launch N kernels in each of 2 streams of their own, and
// "done N" is said when all have ended. The grid's width is the number of the line, from 1 on.

#include <thread>
#include <vector>

#include "check.h"

__global__ void Work(int thread, int stream) {}

struct Thread {
  cudaStream_t streams[2];
};

static void Run(Thread* thread, int number, int round, int kernels) {
  for (int i = 0; i < kernels; ++i) {
    for (int s = 0; s < 2; ++s) Work<<<round, 32 * (number + 1), 0, thread->streams[s]>>>(number, s);
  }
  for (cudaStream_t stream : thread->streams) CHECK(cudaStreamSynchronize(stream));
}

int main() {
  std::vector<Thread> all(8);
  for (Thread& thread : all) {
    for (cudaStream_t& stream : thread.streams)
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  printf("ready\n");
  fflush(stdout);
  int kernels = 0;
  for (int round = 1; scanf("%d", &kernels) == 1; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back(Run, &all[i], i, round, kernels);
    for (std::thread& thread : threads) thread.join();
    printf("done %d\n", kernels);
    fflush(stdout);
  }
  return 0;
}
