// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One stream waits for another by an event; the host asks, waits, and measures. `events again`: one
// event is recorded in two streams by turns, and a third waits for each.

#include "check.h"

__global__ void Producer() {}
__global__ void Consumer() {}

static int Again() {
  cudaStream_t sources[2], consumer;
  cudaEvent_t ready, never;
  for (cudaStream_t& stream : sources)
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&never, cudaEventDisableTiming));
  for (int round = 0; round < 4; ++round) {
    Producer<<<4, 32, 0, sources[round % 2]>>>();
    CHECK(cudaEventRecord(ready, sources[round % 2]));
    CHECK(cudaStreamWaitEvent(consumer, ready, 0));
    Consumer<<<4, 32, 0, consumer>>>();
  }
  CHECK(cudaEventRecord(ready, sources[0]));
  CHECK(cudaEventRecord(ready, sources[1]));
  CHECK(cudaStreamWaitEvent(consumer, ready, 0));
  CHECK(cudaStreamWaitEvent(consumer, never, 0));
  CHECK(cudaEventSynchronize(ready));
  CHECK(cudaDeviceSynchronize());
  return 0;
}

int main(int argc, char**) {
  if (argc > 1) return Again();
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
