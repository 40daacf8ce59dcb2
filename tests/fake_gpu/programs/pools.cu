// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Allocations in stream order, from the device's pool and from one of its own.

#include "check.h"

__global__ void Touch(char* block) { block[threadIdx.x] = 1; }

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  for (int i = 1; i <= 8; ++i) {
    char *ours, *theirs;
    CHECK(cudaMallocAsync(&theirs, i << 16, stream));
    CHECK(cudaMallocFromPoolAsync(&ours, i << 12, pool, stream));
    Touch<<<1, 64, 0, stream>>>(theirs);
    CHECK(cudaFreeAsync(theirs, stream));
    CHECK(cudaFreeAsync(ours, stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemPoolTrimTo(pool, 0));
  CHECK(cudaMemPoolDestroy(pool));
  printf("done\n");
  return 0;
}
