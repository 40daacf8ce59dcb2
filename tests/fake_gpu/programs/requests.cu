// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A service that answers argv[1] requests (100), one after the other: each on a stream of its own,
// which is made for it and destroyed, copies its input, launches a kernel and waits for both. With
// `threads` each has a thread of its own, too.

#include <cstring>
#include <thread>

#include "check.h"

__global__ void Answer(int*) {}

static void Request(int* input) {
  const int value = 7;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMemcpyAsync(input, &value, sizeof value, cudaMemcpyHostToDevice, stream));
  Answer<<<1, 32, 0, stream>>>(input);
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 100;
  const bool in_threads = argc > 2 && strcmp(argv[2], "threads") == 0;
  int* input;
  CHECK(cudaMalloc(&input, sizeof *input));
  for (int i = 0; i < count; ++i) {
    if (in_threads) {
      std::thread(Request, input).join();
    } else {
      Request(input);
    }
  }
  printf("%d answered\n", count);
  return 0;
}
