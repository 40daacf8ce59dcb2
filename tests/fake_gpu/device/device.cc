// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/device/device.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/memory.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu {
namespace {

// As seen on a real machine: the null stream is 7, created ones count from 14.
constexpr uint32_t kNullStreamId = 7;
constexpr uint32_t kFirstStreamId = 14;

struct State {
  std::mutex mutex;
  std::vector<CUcontext> contexts;
  std::map<int, CUcontext> primary;
  uint32_t next_context = 1;
  uint32_t next_stream = kFirstStreamId;
};

State& TheState() {
  static State* const state = new State;
  return *state;
}

thread_local std::map<CUcontext, CUstream> per_thread_streams;

// Memory for one: only where a test asks for it that of another, as stale uses of a handle shall
// be found.
CUstream StreamMemory(CUcontext context) {
  const std::lock_guard lock(context->mutex);
  if (context->free_streams.empty()) return new CUstream_st;
  CUstream stream = context->free_streams.back();
  context->free_streams.pop_back();
  stream->~CUstream_st();
  return new (stream) CUstream_st;
}

CUstream NewStream(CUcontext context, unsigned flags, int priority) {
  CUstream stream = StreamMemory(context);
  stream->context = context;
  stream->flags = flags;
  stream->priority = priority;
  {
    const std::lock_guard lock(TheState().mutex);
    stream->id = TheState().next_stream++;
  }
  const std::lock_guard lock(context->mutex);
  context->streams.push_back(stream);
  return stream;
}

void TellOfStream(CUstream stream, bool created) {
  TruthLine("{\"t\":\"stream\",\"op\":\"%s\",\"id\":%u,\"context\":%u,\"device\":%d}",
            created ? "create" : "destroy", stream->id, stream->context->id,
            stream->context->device);
  TellSink({.event = created ? ObjectEvent::kStreamCreated : ObjectEvent::kStreamDestroyStarting,
            .context = stream->context,
            .stream = stream});
}

}  // namespace

void TellSink(const Object& object) {
  if (Wants(kWantObjects)) TheSink()->ObjectChanged(object);
}

CUcontext CreateContext(int device, bool primary) {
  auto* context = new CUctx_st;
  context->device = device;
  context->primary = primary;
  auto* null_stream = new CUstream_st;
  null_stream->context = context;
  null_stream->id = kNullStreamId;
  null_stream->legacy = true;
  context->null_stream = null_stream;
  context->streams.push_back(null_stream);
  {
    const std::lock_guard lock(TheState().mutex);
    context->id = TheState().next_context++;
    TheState().contexts.push_back(context);
    if (primary) TheState().primary[device] = context;
  }
  TruthLine("{\"t\":\"context\",\"op\":\"create\",\"id\":%u,\"context\":%u,\"device\":%d}",
            context->id, context->id, device);
  TellSink({.event = ObjectEvent::kContextCreated, .context = context});
  TellOfStream(null_stream, true);
  return context;
}

void DestroyContext(CUcontext context) {
  if (!context->alive.load()) return;
  WaitUntil(EndOf(context));
  TellSink({.event = ObjectEvent::kContextDestroyStarting, .context = context});
  FreeWithContext(context);
  context->alive.store(false);
  TruthLine("{\"t\":\"context\",\"op\":\"destroy\",\"id\":%u,\"context\":%u,\"device\":%d}",
            context->id, context->id, context->device);
  const std::lock_guard lock(TheState().mutex);
  if (context->primary) TheState().primary.erase(context->device);
}

CUcontext PrimaryContext(int device) {
  {
    const std::lock_guard lock(TheState().mutex);
    const auto found = TheState().primary.find(device);
    if (found != TheState().primary.end()) return found->second;
  }
  // Two threads that race here would make two; the second one's becomes an ordinary context.
  static std::mutex* const making = new std::mutex;
  const std::lock_guard lock(*making);
  {
    const std::lock_guard again(TheState().mutex);
    const auto found = TheState().primary.find(device);
    if (found != TheState().primary.end()) return found->second;
  }
  return CreateContext(device, true);
}

std::vector<CUcontext> LiveContexts() {
  const std::lock_guard lock(TheState().mutex);
  std::vector<CUcontext> live;
  for (CUcontext context : TheState().contexts) {
    if (context->alive.load()) live.push_back(context);
  }
  return live;
}

CUstream Resolve(CUstream stream, CUcontext context) {
  if (stream == CU_STREAM_PER_THREAD) return ResolvePerThread(stream);
  if (stream != nullptr && stream != CU_STREAM_LEGACY) return stream;
  return context == nullptr ? nullptr : context->null_stream;
}

CUstream ResolvePerThread(CUstream stream) {
  if (stream == CU_STREAM_LEGACY) return Resolve(stream, current_context);
  if (stream != nullptr && stream != CU_STREAM_PER_THREAD) return stream;
  if (current_context == nullptr) return nullptr;
  CUstream& own = per_thread_streams[current_context];
  if (own == nullptr) {
    own = NewStream(current_context, CU_STREAM_DEFAULT, 0);
    TellOfStream(own, true);
  }
  return own;
}

CUresult CreateStream(CUcontext context, unsigned flags, int priority, CUstream* stream) {
  if ((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) return CUDA_ERROR_INVALID_VALUE;
  *stream = NewStream(context, flags, priority);
  TellOfStream(*stream, true);
  return CUDA_SUCCESS;
}

CUresult DestroyStream(CUstream stream) {
  if (!Known(stream) || stream->legacy) return CUDA_ERROR_INVALID_HANDLE;
  TellOfStream(stream, false);
  stream->alive.store(false);
  const std::lock_guard lock(stream->context->mutex);
  std::erase(stream->context->streams, stream);
  if (TheScript().reuse_streams) stream->context->free_streams.push_back(stream);
  return CUDA_SUCCESS;
}

bool Known(CUstream stream) {
  return stream != nullptr && stream->alive.load(std::memory_order_relaxed) &&
         stream->context->alive.load(std::memory_order_relaxed);
}

Span Schedule(CUstream stream, Engine engine, uint64_t duration) {
  CUcontext context = stream->context;
  Span span;
  const bool blocking = (stream->flags & CU_STREAM_NON_BLOCKING) == 0;
  for (;;) {
    const std::lock_guard lock(stream->lock);
    const uint64_t queue = TheScript().queue;
    uint64_t& slot = stream->ends[stream->count % queue];
    const uint64_t now = Monotonic();
    span.start = std::max(stream->last_end, now + TheScript().launch_ns);
    if (slot <= now) {
      if (stream->legacy) span.start = std::max(span.start, context->blocking_end.get());
      if (blocking) span.start = std::max(span.start, context->null_end.get());
      Latest& engine_end = context->engine_end[static_cast<int>(engine)];
      if (engine != Engine::kCompute) span.start = std::max(span.start, engine_end.get());
      span.end = span.start + duration;
      if (engine != Engine::kCompute) engine_end.Raise(span.end);
      stream->last_end = slot = span.end;
      ++stream->count;
      break;
    }
    // The queue is full: as on a real device the caller waits for its head, and nobody else with
    // it.
    const uint64_t until = slot;
    stream->lock.unlock();
    WaitUntil(until);
    stream->lock.lock();
  }
  if (stream->legacy) context->null_end.Raise(span.end);
  if (blocking) context->blocking_end.Raise(span.end);
  context->any_end.Raise(span.end);
  return span;
}

void DelayStream(CUstream stream, uint64_t until) {
  {
    const std::lock_guard lock(stream->lock);
    stream->last_end = std::max(stream->last_end, until);
  }
  if (stream->legacy) stream->context->null_end.Raise(until);
  if ((stream->flags & CU_STREAM_NON_BLOCKING) == 0) stream->context->blocking_end.Raise(until);
  stream->context->any_end.Raise(until);
}

uint64_t EndOf(CUstream stream) {
  uint64_t end;
  {
    const std::lock_guard lock(stream->lock);
    end = stream->last_end;
  }
  // Waiting for the legacy stream is waiting for all that it waits for.
  if (stream->legacy) end = std::max(end, stream->context->blocking_end.get());
  return end;
}

uint64_t EndOf(CUcontext context) { return context->any_end.get(); }

void ExitDriver() {
  for (CUcontext context : LiveContexts()) context->alive.store(false);
  driver_exited.store(true);
  if (Sink* sink = TheSink(); sink != nullptr && !Forked()) sink->DriverExited();
}

uint64_t KernelDuration(const char* name) {
  for (const auto& [text, duration] : TheScript().kernels) {
    if (strstr(name, text.c_str()) != nullptr) return duration;
  }
  return TheScript().kernel_ns;
}

uint64_t CopyDuration(size_t bytes) {
  return TheScript().copy_ns +
         static_cast<uint64_t>(static_cast<double>(bytes) / TheScript().copy_gbps);
}

}  // namespace fake_gpu
