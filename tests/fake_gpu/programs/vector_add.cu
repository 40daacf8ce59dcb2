// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Adds two vectors in two streams, with pinned and pageable copies. Its argument: repetitions (3).
// The vectors that come back are what was copied in, for kernels are not executed on every device.

#include <cstring>
#include <vector>

#include "check.h"

__global__ void Add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

template <typename T>
__global__ void Scale(T* values, T by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= by;
}

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? atoi(argv[1]) : 3;
  const int n = 10000;
  const size_t bytes = n * sizeof(float);
  float *a, *b, *c, *pinned;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMalloc(&c, bytes));
  CHECK(cudaHostAlloc(&pinned, bytes, 0));
  std::vector<float> pageable(n, 2.0F), back(n);
  for (int i = 0; i < n; ++i) pinned[i] = static_cast<float>(i);
  cudaStream_t streams[2];
  CHECK(cudaStreamCreate(&streams[0]));
  CHECK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
  for (int i = 0; i < repetitions; ++i) {
    CHECK(cudaMemcpyAsync(a, pinned, bytes, cudaMemcpyHostToDevice, streams[0]));
    CHECK(cudaMemcpyAsync(b, pageable.data(), bytes, cudaMemcpyHostToDevice, streams[1]));
    CHECK(cudaMemsetAsync(c, 0, bytes, streams[0]));
    Add<<<(n + 255) / 256, 256, 0, streams[0]>>>(a, b, c, n);
    Scale<float><<<dim3(10, 2), dim3(32, 4), 512, streams[1]>>>(b, 2.0F, n);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(streams[0]));
    CHECK(cudaStreamSynchronize(streams[1]));
  }
  Add<<<1, 64>>>(a, b, c, 64);
  CHECK(cudaMemcpy(back.data(), a, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaDeviceSynchronize());
  const bool same = memcmp(back.data(), pinned, bytes) == 0;
  CHECK(cudaStreamDestroy(streams[0]));
  CHECK(cudaStreamDestroy(streams[1]));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
  CHECK(cudaFreeHost(pinned));
  printf("%s\n", same ? "copied back" : "differs");
  return same ? 0 : 4;
}
