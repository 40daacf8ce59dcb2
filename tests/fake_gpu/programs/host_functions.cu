// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A stream runs functions on the host between kernels, argv[1] times (3); another stream does so
// once. Then a graph with such a function runs twice. Tells how many functions ran.

#include <atomic>

#include "check.h"

__global__ void Before() {}
__global__ void After() {}

static std::atomic<int> ran{0};
static void Count(void*) { ++ran; }

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  cudaStream_t one, two;
  CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  for (int i = 0; i < rounds; ++i) {
    Before<<<4, 32, 0, one>>>();
    CHECK(cudaLaunchHostFunc(one, Count, nullptr));
    After<<<4, 32, 0, one>>>();
  }
  CHECK(cudaStreamSynchronize(one));
  CHECK(cudaLaunchHostFunc(two, Count, nullptr));
  CHECK(cudaStreamSynchronize(two));
  CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  Before<<<4, 32, 0, one>>>();
  CHECK(cudaLaunchHostFunc(one, Count, nullptr));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(one, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, one));
  CHECK(cudaStreamSynchronize(one));
  printf("%d functions\n", ran.load());
  return 0;
}
