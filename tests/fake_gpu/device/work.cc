// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/work.h"

#include <algorithm>
#include <cstring>

#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/device.h"
#include "tests/fake_gpu/device/graph.h"
#include "tests/fake_gpu/device/managed.h"
#include "tests/fake_gpu/device/memory.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu {
namespace {

constexpr uint64_t kLoadTime = 20'000;

Engine EngineOf(const Work& work) {
  if (work.type != Work::Type::kCopy) return Engine::kCompute;
  if (work.copy.kind == 1) return Engine::kToDevice;
  return work.copy.kind == 2 ? Engine::kFromDevice : Engine::kCompute;
}

// The tail that all lines of work share.
struct Tail {
  char text[320];
};

Tail TailOf(const Done& done) {
  Tail tail;
  snprintf(tail.text, sizeof tail.text,
           "\"device\":%d,\"context\":%u,\"stream\":%u,\"correlation\":%u,\"call\":%lu,\"tid\":%u,"
           "\"start\":%lu,\"end\":%lu,\"graph\":%u,\"node\":%lu}",
           done.context->device, done.context->id, done.stream->id, done.correlation, CurrentCall(),
           CurrentTid(), done.start, done.end, done.graph, done.node);
  return tail;
}

void TellKernel(const KernelWork& kernel, const Done& done) {
  TruthLine(
      "{\"t\":\"kernel\",\"name\":\"%s\",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"static_smem\":%"
      "d,"
      "\"dynamic_smem\":%u,\"registers\":%d,%s",
      kernel.function->name, kernel.grid.x, kernel.grid.y, kernel.grid.z, kernel.block.x,
      kernel.block.y, kernel.block.z, kernel.function->static_smem, kernel.dynamic_smem,
      kernel.function->registers, TailOf(done).text);
}

void TellTruth(const Done& done) {
  const Work& work = *done.work;
  const char* const kinds[] = {"unknown", "htod", "dtoh", "",     "",    "",
                               "",        "",     "dtod", "htoh", "ptop"};
  switch (work.type) {
    case Work::Type::kKernel:
      TellKernel(work.kernel, done);
      break;
    case Work::Type::kCopy:
      TruthLine(
          "{\"t\":\"copy\",\"kind\":\"%s\",\"bytes\":%zu,\"src\":%u,\"dst\":%u,\"async\":%s,%s",
          kinds[work.copy.kind], work.copy.bytes, work.copy.source_memory,
          work.copy.destination_memory, work.copy.async ? "true" : "false", TailOf(done).text);
      break;
    case Work::Type::kSet:
      TruthLine("{\"t\":\"set\",\"bytes\":%zu,\"value\":%u,%s", work.set.count * work.set.element,
                work.set.value, TailOf(done).text);
      break;
    case Work::Type::kHost:
      TruthLine("{\"t\":\"host_function\",%s", TailOf(done).text);
      break;
    default:
      break;
  }
}

void LoadFunction(CUfunction function) {
  if (function->loaded.load(std::memory_order_acquire)) [[likely]]
    return;
  if (function->loaded.exchange(true)) return;
  const uint64_t start = Monotonic();
  WaitUntil(start + kLoadTime);
  if (Wants(kWantAny))
    TheSink()->FunctionLoaded(function, start, Monotonic(), CurrentCorrelation());
}

void Fill(const SetWork& set) {
  auto* at = static_cast<char*>(set.destination);
  if (set.element == 1) {
    memset(at, static_cast<int>(set.value), set.count);
    return;
  }
  for (size_t i = 0; i < set.count; ++i) memcpy(at + i * set.element, &set.value, set.element);
}

}  // namespace

uint64_t DurationOf(const Work& work) {
  switch (work.type) {
    case Work::Type::kKernel:
      return work.kernel.function->duration;
    case Work::Type::kCopy:
      return CopyDuration(work.copy.bytes);
    case Work::Type::kSet:
      return CopyDuration(work.set.count * work.set.element);
    case Work::Type::kHost:
      return TheScript().host_ns;
    default:
      return 0;
  }
}

void ApplyEffects(const Work& work) {
  if (work.type == Work::Type::kCopy)
    memmove(work.copy.destination, work.copy.source, work.copy.bytes);
  if (work.type == Work::Type::kSet) Fill(work.set);
}

void TellDone(const Done& done) {
  if (TruthWanted()) TellTruth(done);
  if (Wants(kWantWork)) TheSink()->Finished(done);
  if (done.work->type == Work::Type::kKernel) TouchManaged(done.context->device, done.start);
}

bool MustBlock(const CopyWork& copy) {
  const auto pageable = static_cast<uint8_t>(Space::kPageable);
  return !copy.async || copy.source_memory == pageable || copy.destination_memory == pageable;
}

Work CopyOf(void* destination, const void* source, size_t bytes, bool async) {
  Work work;
  work.type = Work::Type::kCopy;
  const Allocation from = AllocationOf(source), to = AllocationOf(destination);
  const bool from_host = from.space == Space::kPageable || from.space == Space::kPinned;
  const bool to_host = to.space == Space::kPageable || to.space == Space::kPinned;
  const uint8_t kinds[2][2] = {{8, 2}, {1, 9}};
  uint8_t kind = kinds[from_host][to_host];
  if (!from_host && !to_host && from.context->device != to.context->device) kind = 10;
  work.copy = {destination,
               source,
               bytes,
               kind,
               static_cast<uint8_t>(from.space),
               static_cast<uint8_t>(to.space),
               async,
               from.context,
               to.context};
  return work;
}

CUresult Enqueue(const Work& work, CUstream stream) {
  if (!Known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture != nullptr) [[unlikely]]
    return CaptureWork(work, stream);
  if (work.type == Work::Type::kKernel) LoadFunction(work.kernel.function);
  const Span span = Schedule(stream, EngineOf(work), DurationOf(work));
  ApplyEffects(work);
  TellDone({.work = &work,
            .context = stream->context,
            .stream = stream,
            .start = span.start,
            .end = span.end,
            .correlation = CurrentCorrelation()});
  if (work.type == Work::Type::kCopy && MustBlock(work.copy)) WaitUntil(span.end);
  // The function may prepare what later work copies, and effects come early here: so it is waited
  // for.
  if (work.type == Work::Type::kHost) {
    WaitUntil(span.start);
    work.host.function(work.host.data);
  }
  return CUDA_SUCCESS;
}

uint64_t RunNode(const CUgraphNode_st& node, CUstream stream, CUgraphExec exec, bool whole,
                 uint64_t after) {
  const Work& work = node.work;
  if (work.type == Work::Type::kKernel) LoadFunction(work.kernel.function);
  const uint64_t end = after + DurationOf(work);
  ApplyEffects(work);
  TellDone({.work = &work,
            .context = stream->context,
            .stream = stream,
            .start = after,
            .end = end,
            .correlation = CurrentCorrelation(),
            .graph = exec->id,
            .node = node.id,
            .reduced = exec->before_tool,
            .whole = whole});
  if (work.type == Work::Type::kHost) work.host.function(work.host.data);
  if (work.type == Work::Type::kEventRecord) {
    const std::lock_guard lock(work.event->lock);
    work.event->recorded = true;
    work.event->time = end;
  }
  return end;
}

}  // namespace fake_gpu
