// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Managed memory goes to the GPU, one block by a prefetch and one by a kernel, and back. Before it,
// the program initialises CUDA and waits for a line of stdin.

#include "check.h"

__global__ void Touch(char* memory) {}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  CHECK(cudaFree(nullptr));
  printf("ready\n");
  fflush(stdout);
  getchar();
  constexpr size_t kFirst = 4 << 20, kSecond = 1 << 20;
  const cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
  char *first, *second;
  cudaStream_t stream;
  CHECK(cudaMallocManaged(&first, kFirst));
  CHECK(cudaMallocManaged(&second, kSecond));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < rounds; ++i) {
    CHECK(cudaMemPrefetchAsync(first, kFirst, gpu, 0, stream));
    Touch<<<1, 32, 0, stream>>>(second);
    CHECK(cudaMemPrefetchAsync(first, kFirst, host, 0, stream));
    CHECK(cudaMemPrefetchAsync(second, kSecond, host, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
  CHECK(cudaFree(first));
  CHECK(cudaFree(second));
  printf("%d rounds\n", rounds);
  return 0;
}
