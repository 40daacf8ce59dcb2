// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Plays a recording of real GPU work again: to whoever listens to the doubles the records come as
// from a program that did that work.
//
//   replay FILE [live]
//
// The rows' times are moved by one constant. Without `live` the last row ends when the program
// begins, and all are handed over at once; with it the first begins then, and each is handed over
// at its end. Each thread of the recording is one of this process, which writes the thread's calls;
// work on the device is written by another. The recording keeps its ids: of threads, contexts,
// streams, correlation.
//
// Its own calls are the driver's alone, so that every runtime call in a profile is the recording's.

#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <thread>
#include <tuple>

#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/work.h"
#include "tests/fake_gpu/replay/recording.h"

namespace {

using fake_gpu_replay::Recording;
using fake_gpu_replay::Row;

// The device's time of the recording's beginning, and whether rows wait for theirs.
struct Moment {
  uint64_t base = 0;
  bool live = false;
};

// Contexts and streams that bear the recording's ids. The simulated device does not know them.
class Places {
 public:
  CUstream StreamOf(const Row& row) {
    CUstream& stream = streams_[{row.device, row.context, row.stream}];
    if (stream == nullptr) {
      stream = new CUstream_st;
      stream->context = ContextOf(row.device, row.context);
      stream->id = row.stream;
    }
    return stream;
  }

  CUcontext ContextOf(uint32_t device, uint32_t id) {
    CUcontext& context = contexts_[{device, id}];
    if (context == nullptr) {
      context = new CUctx_st;
      context->device = static_cast<int>(device);
      context->id = id;
    }
    return context;
  }

 private:
  std::map<std::pair<uint32_t, uint32_t>, CUcontext> contexts_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, CUstream> streams_;
};

void PlayCall(const Row& row, const Recording& recording, const Moment& moment) {
  fake_gpu::Sink* const sink = fake_gpu::TheSink();
  if (sink == nullptr) return;
  fake_gpu::Call call;
  call.domain = row.type == fake_gpu_replay::kRuntimeCall ? fake_gpu::Domain::kRuntime
                                                          : fake_gpu::Domain::kDriver;
  call.cbid = row.callback_id;
  call.name = recording.names[row.name].c_str();
  call.correlation = row.correlation;
  call.tid = row.thread;
  call.start = moment.base + row.start;
  sink->CallReplayed(call, moment.base + row.end);
}

void PlayWork(const Row& row, const Recording& recording, const Moment& moment, Places* places) {
  using Type = fake_gpu::Work::Type;
  CUstream const stream = places->StreamOf(row);
  CUfunc_st function;
  function.name = recording.names[row.name].c_str();
  function.registers = static_cast<int>(row.registers);
  fake_gpu::Work work;
  if (row.type == fake_gpu_replay::kKernel) {
    work.type = Type::kKernel;
    work.kernel.function = &function;
    work.kernel.grid = {row.grid[0], row.grid[1], row.grid[2]};
    work.kernel.block = {row.block[0], row.block[1], row.block[2]};
    work.kernel.dynamic_smem = row.shared_memory;
  } else if (row.type == fake_gpu_replay::kCopy) {
    work.type = Type::kCopy;
    work.copy.bytes = row.bytes;
    work.copy.kind = static_cast<uint8_t>(row.memory);
    work.copy.source_memory = static_cast<uint8_t>(row.memory >> 8);
    work.copy.destination_memory = static_cast<uint8_t>(row.memory >> 16);
    work.copy.source_context = places->ContextOf(row.grid[0], row.block[0]);
    work.copy.destination_context = places->ContextOf(row.grid[1], row.block[1]);
  } else {
    work.type = Type::kSet;
    work.set.count = row.bytes;
    work.set.memory = static_cast<uint8_t>(row.memory >> 16);
  }
  fake_gpu::TellDone({.work = &work,
                      .context = stream->context,
                      .stream = stream,
                      .start = moment.base + row.start,
                      .end = moment.base + row.end,
                      .correlation = row.correlation,
                      .graph = row.graph,
                      .node = row.graph_node});
}

template <typename Play>
void PlayRows(const std::vector<const Row*>& rows, const Moment& moment, Play play) {
  for (const Row* row : rows) {
    if (moment.live) fake_gpu::WaitUntil(moment.base + row->end);
    play(*row);
  }
}

void PlayAll(const Recording& recording, const Moment& moment) {
  std::map<uint32_t, std::vector<const Row*>> calls;
  std::vector<const Row*> work;
  for (const Row& row : recording.rows) {
    (recording.IsCall(row) ? calls[row.thread] : work).push_back(&row);
  }
  std::vector<std::thread> threads;
  for (const auto& [tid, rows] : calls) {
    threads.emplace_back([&recording, &moment, &own = rows] {
      PlayRows(own, moment, [&](const Row& row) { PlayCall(row, recording, moment); });
    });
  }
  Places places;
  PlayRows(work, moment, [&](const Row& row) { PlayWork(row, recording, moment, &places); });
  for (std::thread& thread : threads) thread.join();
}

bool InitializeDriver() {
  CUdevice device;
  CUcontext context;
  return cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
         cuCtxCreate(&context, nullptr, 0, device) == CUDA_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "live") != 0)) {
    fprintf(stderr, "replay FILE [live]\n");
    return 2;
  }
  // Tools keep the names' addresses until the process ends.
  auto* const recording = new Recording;
  if (const char* wrong = fake_gpu_replay::Read(argv[1], recording)) {
    fprintf(stderr, "replay: %s %s\n", argv[1], wrong);
    return 1;
  }
  if (!InitializeDriver()) {
    fprintf(stderr, "replay: no driver or no device\n");
    return 3;
  }
  const uint64_t span = recording->rows.empty() ? 0 : recording->rows.back().end;
  Moment moment{fake_gpu::Monotonic(), argc == 3};
  if (!moment.live) {
    if (moment.base <= span) {
      fprintf(stderr, "replay: the recording is longer than this machine is up; play it live\n");
      return 4;
    }
    moment.base -= span;
  }
  PlayAll(*recording, moment);
  printf("%zu rows\n", recording->rows.size());
  return 0;
}
