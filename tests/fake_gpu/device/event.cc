// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Events, and all that waits: with the truth and the sink told of each.

#include <algorithm>

#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/device.h"
#include "tests/fake_gpu/device/graph.h"
#include "tests/fake_gpu/device/work.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu {
namespace {

std::atomic<uint64_t> last_sync_id{0};

void Tell(Sync sync) {
  sync.end = Monotonic();
  sync.correlation = CurrentCorrelation();
  const char* const types[] = {"", "event", "wait", "stream", "context"};
  if (!sync.query) {
    TruthLine(
        "{\"t\":\"sync\",\"type\":\"%s\",\"stream\":%u,\"context\":%u,\"event\":%u,\"start\":%lu,"
        "\"end\":%lu,\"correlation\":%u,\"tid\":%u}",
        types[sync.type], sync.stream != nullptr ? sync.stream->id : 0, sync.context->id,
        sync.event != nullptr ? sync.event->id : 0, sync.start, sync.end, sync.correlation,
        CurrentTid());
  }
  if (Wants(kWantSyncs)) TheSink()->Synchronized(sync);
}

struct EventState {
  bool recorded;
  uint64_t time;
  CUstream stream;
};

EventState StateOf(CUevent event) {
  const std::lock_guard lock(event->lock);
  return {event->recorded, event->time, event->stream};
}

bool Known(CUevent event) {
  return event != nullptr && event->alive.load(std::memory_order_relaxed);
}

}  // namespace

CUresult RecordEvent(CUevent event, CUstream stream) {
  if (!Known(event) || !fake_gpu::Known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture != nullptr) return CaptureRecord(event, stream);
  const uint64_t end = std::max(EndOf(stream), Monotonic());
  {
    const std::lock_guard lock(event->lock);
    event->capture = nullptr;
    event->recorded = true;
    event->time = end;
    event->stream = stream;
    event->sync_id = last_sync_id.fetch_add(1) + 1;
  }
  TruthLine(
      "{\"t\":\"event_record\",\"event\":%u,\"sync_id\":%lu,\"stream\":%u,\"context\":%u,\"time\":%"
      "lu,"
      "\"correlation\":%u}",
      event->id, event->sync_id, stream->id, stream->context->id, end, CurrentCorrelation());
  if (Wants(kWantSyncs)) TheSink()->EventRecorded(event, end, CurrentCorrelation());
  return CUDA_SUCCESS;
}

CUresult WaitForEvent(CUstream stream, CUevent event) {
  if (!Known(event) || !fake_gpu::Known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture != nullptr || stream->capture != nullptr) return CaptureWait(stream, event);
  const uint64_t start = Monotonic();
  const EventState state = StateOf(event);
  if (state.recorded) DelayStream(stream, state.time);
  Tell({.type = 2, .context = stream->context, .stream = stream, .event = event, .start = start});
  return CUDA_SUCCESS;
}

CUresult SynchronizeStream(CUstream stream) {
  if (!Known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture != nullptr) {
    stream->capture->broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  const uint64_t start = Monotonic();
  WaitUntil(EndOf(stream));
  Tell({.type = 3, .context = stream->context, .stream = stream, .start = start});
  return CUDA_SUCCESS;
}

CUresult SynchronizeContext(CUcontext context) {
  if (context == nullptr || !context->alive.load()) return CUDA_ERROR_INVALID_CONTEXT;
  const uint64_t start = Monotonic();
  WaitUntil(EndOf(context));
  Tell({.type = 4, .context = context, .start = start});
  return CUDA_SUCCESS;
}

CUresult SynchronizeEvent(CUevent event) {
  if (!Known(event)) return CUDA_ERROR_INVALID_HANDLE;
  const uint64_t start = Monotonic();
  const EventState state = StateOf(event);
  if (state.recorded) WaitUntil(state.time);
  Tell({.type = 1,
        .context = event->context,
        .stream = state.stream,
        .event = event,
        .start = start});
  return CUDA_SUCCESS;
}

CUresult QueryStream(CUstream stream) {
  if (!Known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  const uint64_t now = Monotonic();
  if (EndOf(stream) <= now) return CUDA_SUCCESS;
  Tell({.type = 3,
        .context = stream->context,
        .stream = stream,
        .start = now,
        .result = CUDA_ERROR_NOT_READY,
        .query = true});
  return CUDA_ERROR_NOT_READY;
}

CUresult QueryEvent(CUevent event) {
  if (!Known(event)) return CUDA_ERROR_INVALID_HANDLE;
  const uint64_t now = Monotonic();
  const EventState state = StateOf(event);
  if (!state.recorded || state.time <= now) return CUDA_SUCCESS;
  Tell({.type = 1,
        .context = event->context,
        .stream = state.stream,
        .event = event,
        .start = now,
        .result = CUDA_ERROR_NOT_READY,
        .query = true});
  return CUDA_ERROR_NOT_READY;
}

}  // namespace fake_gpu
