// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One stream waits for another by an event; the host asks, waits, and measures.

#include "check.h"

__global__ void Producer() {}
__global__ void Consumer() {}

int main() {
  cudaStream_t one, two;
  cudaEvent_t start, ready, end;
  CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&ready));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(start, one));
  Producer<<<4, 32, 0, one>>>();
  CHECK(cudaEventRecord(ready, one));
  CHECK(cudaStreamWaitEvent(two, ready, 0));
  Consumer<<<4, 32, 0, two>>>();
  CHECK(cudaEventRecord(end, two));
  const cudaError_t early = cudaEventQuery(end);
  CHECK(cudaEventSynchronize(end));
  float milliseconds;
  CHECK(cudaEventElapsedTime(&milliseconds, start, end));
  printf("%s, %.3f ms\n", early == cudaErrorNotReady ? "not ready" : "ready", milliseconds);
  return milliseconds > 0 ? 0 : 4;
}
