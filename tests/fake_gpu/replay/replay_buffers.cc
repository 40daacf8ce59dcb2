// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Plays a recording of CUPTI's activity buffers (recorder/recorder.cc) again: whoever listens to
// the double of CUPTI gets the recorded bytes, in buffers of its own, after a context was made.
//
//   replay_buffers FILE
//
// The recording keeps its times: the double's clock goes on from where the recording ended. The
// libcupti that is loaded has to be of the recording's major version; it tells the recording's own
// when it is asked. Callbacks are this program's, for those of the recording are not recorded.

#include <cuda.h>

#include <cstdio>

#include "tests/fake_gpu/device/sink.h"
#include "tests/fake_gpu/replay/buffer_reader.h"

namespace {

bool InitializeDriver() {
  CUdevice device;
  CUcontext context;
  return cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
         cuCtxCreate(&context, nullptr, 0, device) == CUDA_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "replay_buffers FILE\n");
    return 2;
  }
  // Tools keep the names' addresses until the process ends.
  auto* const playback = new fake_gpu::Playback;
  if (const char* wrong = fake_gpu_replay::ReadBuffers(argv[1], playback)) {
    fprintf(stderr, "replay_buffers: %s %s\n", argv[1], wrong);
    return 1;
  }
  fake_gpu::SetPlayback(playback);
  if (!InitializeDriver()) {
    fprintf(stderr, "replay_buffers: no driver or no device\n");
    return 3;
  }
  if (fake_gpu::Sink* const sink = fake_gpu::TheSink(); sink != nullptr) {
    if (const char* wrong = sink->PlayBuffers()) {
      fprintf(stderr, "replay_buffers: %s was not played: %s\n", argv[1], wrong);
      return 4;
    }
  }
  size_t records = 0;
  for (const fake_gpu::PlayedBuffer& buffer : playback->buffers) records += buffer.lengths.size();
  printf("%zu buffers, %zu records\n", playback->buffers.size(), records);
  return 0;
}
