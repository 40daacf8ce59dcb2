// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Uses the driver alone: a context of its own, a module from text, launches, a graph by hand.

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void Check(CUresult result, const char* what) {
  const char* name = "?";
  if (result == CUDA_SUCCESS) return;
  cuGetErrorName(result, &name);
  fprintf(stderr, "%s: %d %s\n", what, result, name);
  exit(3);
}
#define CHECK(call) Check(call, #call)

static const char kText[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry plain() { ret; }\n";

int main(void) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUstream stream;
  CUevent event;
  CUdeviceptr block;
  CUgraph graph;
  CUgraphNode node;
  CUgraphExec exec;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuCtxCreate(&context, NULL, 0, device));
  CHECK(cuModuleLoadData(&module, kText));
  CHECK(cuModuleGetFunction(&function, module, "plain"));
  CHECK(cuStreamCreate(&stream, 0));
  CHECK(cuMemAlloc(&block, 1 << 20));
  CHECK(cuMemsetD32Async(block, 7, 1000, stream));
  for (int i = 0; i < 4; ++i)
    CHECK(cuLaunchKernel(function, 3, 2, 1, 64, 1, 1, 128, stream, NULL, NULL));
  CUDA_KERNEL_NODE_PARAMS parameters;
  memset(&parameters, 0, sizeof parameters);
  parameters.func = function;
  parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
  parameters.blockDimX = 32;
  parameters.blockDimY = parameters.blockDimZ = 1;
  CHECK(cuGraphCreate(&graph, 0));
  CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &parameters));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CHECK(cuEventRecord(event, stream));
  CHECK(cuEventSynchronize(event));
  CHECK(cuStreamSynchronize(stream));
  unsigned values[2] = {0, 0};
  CHECK(cuMemcpyDtoH(values, block, sizeof values));
  CHECK(cuMemFree(block));
  CHECK(cuCtxDestroy(context));
  printf("%u %u\n", values[0], values[1]);
  return values[0] == 7 && values[1] == 7 ? 0 : 4;
}
