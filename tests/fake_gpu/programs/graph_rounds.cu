// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Obeys lines on stdin, and says "done" after each: "make" makes the two executable graphs anew,
// "update" gives the plain one other kernels (its grid grows by one), and a number N launches each
// N times. Made for the first time before the first line.
//
// The plain one: copy, kernel, kernel. The nested one is made of a clone, and has a child graph:
// kernel | (set, kernel).

#include <cstring>

#include "check.h"

__global__ void Plain(int* values) { values[threadIdx.x] = 1; }
__global__ void Outer(int* values) { values[threadIdx.x] = 2; }
__global__ void Inner(int* values) { values[threadIdx.x] = 3; }

static int *device, *host;
static cudaStream_t stream;
static cudaGraphExec_t plain, nested;
static int grid = 1;

static cudaGraph_t MakePlain() {
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(device, host, 256, cudaMemcpyHostToDevice, stream));
  for (int i = 0; i < 2; ++i) Plain<<<grid, 32, 0, stream>>>(device);
  CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

static cudaGraph_t MakeNested() {
  cudaGraph_t outer, child, clone;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(device, 7, 64, stream));
  Inner<<<1, 64, 0, stream>>>(device);
  CHECK(cudaStreamEndCapture(stream, &child));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  Outer<<<1, 128, 0, stream>>>(device);
  CHECK(cudaStreamEndCapture(stream, &outer));
  cudaGraphNode_t node;
  CHECK(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, child));
  CHECK(cudaGraphClone(&clone, outer));
  return clone;
}

int main() {
  CHECK(cudaMalloc(&device, 4096));
  CHECK(cudaHostAlloc(&host, 4096, 0));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  char line[32] = "make";
  do {
    if (strcmp(line, "make") == 0) {
      CHECK(cudaGraphInstantiate(&plain, MakePlain(), 0));
      CHECK(cudaGraphInstantiate(&nested, MakeNested(), 0));
    } else if (strcmp(line, "update") == 0) {
      ++grid;
      cudaGraphExecUpdateResultInfo info;
      CHECK(cudaGraphExecUpdate(plain, MakePlain(), &info));
    } else {
      for (int i = 0; i < atoi(line); ++i) {
        CHECK(cudaGraphLaunch(plain, stream));
        CHECK(cudaGraphLaunch(nested, stream));
      }
      CHECK(cudaStreamSynchronize(stream));
    }
    printf("done %s\n", line);
    fflush(stdout);
  } while (scanf("%31s", line) == 1);
  return 0;
}
