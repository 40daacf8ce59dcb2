// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Streams that are named through NVTX, by the runtime's functions and the driver's, one kernel in
// each. Three of them are made and destroyed one after the other, so that they may have one handle:
// how many had the first one's is said. The last of them has no name.
//
// `stream_names late`: one is named and destroyed before a line comes on stdin, one made and not
// not named after it, and one named; then another line is waited for.
// `stream_names many N`: N streams are made one behind the other, and each has a name and a kernel.

#include <cuda.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include <string>
#include <vector>

#include "check.h"

__global__ void Work() {}

static cudaStream_t Make() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

static void Use(cudaStream_t stream) {
  Work<<<4, 32, 0, stream>>>();
  CHECK(cudaStreamSynchronize(stream));
}

static void Line(const char* text) {
  puts(text);
  fflush(stdout);
  char line[16];
  if (fgets(line, sizeof line, stdin) == nullptr) exit(1);
}

static int Late() {
  cudaStream_t gone = Make();
  nvtxNameCudaStreamA(gone, "gone");
  Use(gone);
  CHECK(cudaStreamDestroy(gone));
  Line("ready");
  cudaStream_t unnamed = Make();
  cudaStream_t named = Make();
  nvtxNameCuStreamA(named, "named");
  Use(unnamed);
  Use(named);
  Line(unnamed == gone ? "same" : "another");
  return 0;
}

static int Many(size_t count) {
  std::vector<cudaStream_t> streams(count);
  for (cudaStream_t& stream : streams) stream = Make();
  for (size_t i = 0; i < count; ++i) {
    nvtxNameCudaStreamA(streams[i], ("stream of " + std::to_string(i)).c_str());
    Work<<<4, 32, 0, streams[i]>>>();
  }
  CHECK(cudaDeviceSynchronize());
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 2) return Many(std::stoul(argv[2]));
  if (argc > 1) return Late();
  cudaStream_t copies = Make();
  nvtxNameCudaStreamA(copies, "a first name");
  cudaStream_t compute = Make();
  nvtxNameCuStreamW(compute, L"compute \u00e4");
  nvtxNameCudaStreamA(copies, "copies");
  Use(copies);
  Use(compute);
  cudaStream_t first = nullptr;
  int again = 0;
  for (int i = 0; i < 3; ++i) {
    cudaStream_t stream = Make();
    if (i == 0) first = stream;
    again += stream == first;
    if (i == 0) nvtxNameCuStreamA(stream, "one");
    if (i == 1) nvtxNameCudaStreamW(stream, L"two");
    Use(stream);
    CHECK(cudaStreamDestroy(stream));
  }
  printf("%d with one handle\n", again);
  return 0;
}
