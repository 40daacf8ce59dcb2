// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Launches argv[1] kernels and says "launched" at once, while they still run; at the end of stdin it
// waits for them. On a GPU each lasts argv[2] ms; the doubles go by their script.

#include "check.h"

__global__ void Work(long long clocks) {
  for (const long long start = clock64(); clock64() - start < clocks;) {
  }
}

int main(int argc, char** argv) {
  const int kernels = argc > 1 ? atoi(argv[1]) : 10;
  const long long clocks = argc > 2 ? atoll(argv[2]) * 1'500'000 : 0;  // at 1.5 GHz
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  printf("ready\n");
  fflush(stdout);
  while (getchar() == '\n') {
    for (int i = 0; i < kernels; ++i) Work<<<1, 32, 0, stream>>>(clocks);
    printf("launched\n");
    fflush(stdout);
  }
  CHECK(cudaStreamSynchronize(stream));
  return 0;
}
