// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A training that is bound by its launches: argv[1] seconds long, steps of argv[2] launches (200),
// each after argv[3] ns of work of the host (2800). argv[4] tells how steps are marked: "nvtx" by
// ranges (the default), "none" not at all. argv[5]: one step in so many takes 20 times as long, as with
// a checkpoint (0: none). The grid's width of each kernel is the number of its step. It prints what a step took, in ns.

#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstring>

#include "check.h"

__global__ void Layer() {}

using Clock = std::chrono::steady_clock;

static void Work(long ns) {
  for (const auto until = Clock::now() + std::chrono::nanoseconds(ns); Clock::now() < until;) {}
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 2;
  const int launches = argc > 2 ? atoi(argv[2]) : 200;
  const long work = argc > 3 ? atol(argv[3]) : 2800;
  const bool is_marked = argc <= 4 || strcmp(argv[4], "nvtx") == 0;
  const unsigned checkpoint = argc > 5 ? static_cast<unsigned>(atoi(argv[5])) : 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  unsigned steps = 0;
  const auto began = Clock::now();
  const auto until = began + std::chrono::duration<double>(seconds);
  while (Clock::now() < until) {
    ++steps;
    if (is_marked) nvtxRangePushA("step");
    for (int i = 0; i < launches; ++i) {
      Work(work);
      Layer<<<steps, 32, 0, stream>>>();
    }
    if (checkpoint != 0 && steps % checkpoint == 0) Work(20 * launches * work);
    if (is_marked) nvtxRangePop();
  }
  CHECK(cudaStreamSynchronize(stream));
  const double took = std::chrono::duration<double, std::nano>(Clock::now() - began).count();
  printf("%u steps, %.0f ns\n", steps, took / steps);
  return 0;
}
