// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Serves made-up requests, argv[1] rounds of one prefill and three decodes. argv[2] tells whose
// marks its ranges of NVTX are: vllm, sglang or wrapped (the marks of vLLM within those of a
// profiler). A prefill launches 4 kernels, a decode 2. One kernel picks the tokens behind each mark.
// The host waits for the device behind each iteration, and works a while.

#include <nvtx3/nvToolsExt.h>

#include <string>

#include "check.h"

__global__ void Prefill() {}
__global__ void Decode() {}
__global__ void Pick() {}

static cudaStream_t g_stream;
static volatile unsigned long g_sink;

static void Iteration(const std::string& engine, int number, bool is_prefill) {
  const std::string name = engine == "sglang"
                               ? (is_prefill ? "step[EXTEND bs=3 toks=120]" : "step[DECODE bs=3]")
                               : (is_prefill ? "execute_context_3(120)_generation_0(0)"
                                             : "execute_context_0(0)_generation_3(3)");
  if (engine == "wrapped") nvtxRangePushA(("ProfilerStep#" + std::to_string(number)).c_str());
  nvtxRangePushA(name.c_str());
  for (int i = 0; i < (is_prefill ? 4 : 2); ++i) {
    if (is_prefill) {
      Prefill<<<1, 32, 0, g_stream>>>();
    } else {
      Decode<<<1, 32, 0, g_stream>>>();
    }
  }
  nvtxRangePop();
  if (engine == "wrapped") nvtxRangePop();
  Pick<<<1, 32, 0, g_stream>>>();
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(g_stream));
  for (unsigned long i = 0; i < 300000; ++i) g_sink = g_sink + i;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 5;
  const std::string engine = argc > 2 ? argv[2] : "vllm";
  CHECK(cudaStreamCreate(&g_stream));
  for (int i = 0; i < rounds * 4; ++i) Iteration(engine, i, i % 4 == 0);
  printf("%d iterations\n", rounds * 4);
  return 0;
}
