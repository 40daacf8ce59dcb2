// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Launches argv[1] kernels and says "launched" at once, while they still run; at the end of stdin it
// waits for them.

#include "check.h"

__global__ void Work() {}

int main(int argc, char** argv) {
  const int kernels = argc > 1 ? atoi(argv[1]) : 10;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  printf("ready\n");
  fflush(stdout);
  while (getchar() == '\n') {
    for (int i = 0; i < kernels; ++i) Work<<<1, 32, 0, stream>>>();
    printf("launched\n");
    fflush(stdout);
  }
  CHECK(cudaStreamSynchronize(stream));
  return 0;
}
