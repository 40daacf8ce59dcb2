// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// argv[1] steps (3), each forward, by two kernels of one function, and backward, by three of another;
// phases and steps are NVTX ranges.

#include <nvtx3/nvToolsExt.h>

#include "check.h"

__global__ void Multiply() {}
__global__ void Gradient() {}

// A call behind the launch: neither function ends in a jump that would leave its frame.
__attribute__((noinline)) static void Forward(cudaStream_t stream) {
  nvtxRangePushA("forward");
  for (int i = 0; i < 2; ++i) Multiply<<<4, 64, 0, stream>>>();
  CHECK(cudaGetLastError());
  nvtxRangePop();
}

__attribute__((noinline)) static void Backward(cudaStream_t stream) {
  nvtxRangePushA("backward");
  for (int i = 0; i < 3; ++i) Gradient<<<8, 64, 0, stream>>>();
  CHECK(cudaGetLastError());
  nvtxRangePop();
}

__attribute__((noinline)) static void Step(cudaStream_t stream) {
  nvtxRangePushA("step");
  Forward(stream);
  Backward(stream);
  nvtxRangePop();
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 3;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int i = 0; i < steps; ++i) Step(stream);
  CHECK(cudaStreamSynchronize(stream));
  printf("%d steps\n", steps);
  return 0;
}
