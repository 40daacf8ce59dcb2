// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// argv[1] steps (12), in ranges of NVTX of which argv[2] tells the kind:
//   numbered   "step 0", "step 1", ..., pushed
//   profiler   "ProfilerStep#0", "ProfilerStep#1", ..., pushed
//   plain      "step", pushed, with "step" pushed again inside
//   started    "iteration", started, and ended by another thread
//   domain     "train" in the domain "app", and in no domain before it
// Each step launches as many kernels as its number + 1, a grid as wide as that; between two steps
// one kernel of another function is launched.

#include <nvtx3/nvToolsExt.h>

#include <string>
#include <thread>

#include "check.h"

__global__ void Inside() {}
__global__ void Between() {}

static cudaStream_t g_stream;

static void Launches(int step) {
  for (int i = 0; i <= step; ++i) Inside<<<static_cast<unsigned>(step + 1), 32, 0, g_stream>>>();
  CHECK(cudaGetLastError());
}

static void Step(const std::string& kind, int step) {
  if (kind == "numbered" || kind == "profiler") {
    const std::string name = kind == "numbered" ? "step " : "ProfilerStep#";
    nvtxRangePushA((name + std::to_string(step)).c_str());
    Launches(step);
    nvtxRangePop();
  } else if (kind == "plain") {
    nvtxRangePushA("step");
    nvtxRangePushA("step");
    nvtxRangePop();
    Launches(step);
    nvtxRangePop();
  } else if (kind == "started") {
    const nvtxRangeId_t id = nvtxRangeStartA("iteration");
    Launches(step);
    std::thread([id] { nvtxRangeEnd(id); }).join();
  } else {
    static const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "train");
    nvtxRangePushA("train");
    nvtxRangePop();
    nvtxDomainRangePushEx(domain, &event);
    nvtxRangePushA("inner");
    Launches(step);
    nvtxRangePop();
    nvtxDomainRangePop(domain);
  }
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 12;
  const std::string kind = argc > 2 ? argv[2] : "numbered";
  CHECK(cudaStreamCreate(&g_stream));
  for (int i = 0; i < steps; ++i) {
    Step(kind, i);
    Between<<<1, 32, 0, g_stream>>>();
  }
  CHECK(cudaStreamSynchronize(g_stream));
  printf("%d steps\n", steps);
  return 0;
}
