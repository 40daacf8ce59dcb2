// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A graph by capture over two streams (copy, kernel | set, kernel, kernel), launched argv[1] times
// (5), argv[2] microseconds after it was made (0).

#include <unistd.h>

#include "check.h"

__global__ void First(int* values) { values[threadIdx.x] = 1; }
__global__ void Second(int* values) { values[threadIdx.x] = 2; }
__global__ void Last(int* values) { values[threadIdx.x] = 3; }

int main(int argc, char** argv) {
  const int launches = argc > 1 ? atoi(argv[1]) : 5;
  int *device, *host;
  CHECK(cudaMalloc(&device, 4096));
  CHECK(cudaHostAlloc(&host, 4096, 0));
  cudaStream_t one, two;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&one));
  CHECK(cudaStreamCreate(&two));
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, one));
  CHECK(cudaEventRecord(fork, one));
  CHECK(cudaStreamWaitEvent(two, fork, 0));
  First<<<1, 32, 0, one>>>(device);
  CHECK(cudaMemsetAsync(device, 7, 128, two));
  Second<<<1, 32, 0, two>>>(device);
  CHECK(cudaEventRecord(join, two));
  CHECK(cudaStreamWaitEvent(one, join, 0));
  Last<<<1, 32, 0, one>>>(device);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(one, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  if (argc > 2) usleep(atoi(argv[2]));
  for (int i = 0; i < launches; ++i) CHECK(cudaGraphLaunch(exec, one));
  CHECK(cudaStreamSynchronize(one));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  printf("launched %d\n", launches);
  return 0;
}
