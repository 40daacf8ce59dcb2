// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Streams and events.

#include "tests/fake_gpu/cuda/driver.h"
#include "tests/fake_gpu/device/graph.h"
#include "tests/fake_gpu/device/work.h"

using fake_gpu::current_context;
using fake_gpu::Resolve;

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  DRIVER_CALL(cuStreamCreate, stream, flags);
  NEED_CONTEXT();
  return call.End(fake_gpu::CreateStream(context, flags, 0, stream));
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  DRIVER_CALL(cuStreamCreateWithPriority, stream, flags, priority);
  NEED_CONTEXT();
  return call.End(fake_gpu::CreateStream(context, flags, priority, stream));
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  DRIVER_CALL(cuStreamDestroy_v2, stream);
  return call.End(fake_gpu::DestroyStream(stream));
}

CUresult cuStreamSynchronize(CUstream stream) {
  DRIVER_CALL(cuStreamSynchronize, stream);
  return call.End(fake_gpu::SynchronizeStream(Resolve(stream, current_context)));
}

CUresult cuStreamQuery(CUstream stream) {
  DRIVER_CALL(cuStreamQuery, stream);
  return call.End(fake_gpu::QueryStream(Resolve(stream, current_context)));
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  DRIVER_CALL(cuStreamGetPriority, stream, priority);
  stream = Resolve(stream, current_context);
  if (!fake_gpu::Known(stream)) return call.End(CUDA_ERROR_INVALID_HANDLE);
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  DRIVER_CALL(cuStreamGetFlags, stream, flags);
  stream = Resolve(stream, current_context);
  if (!fake_gpu::Known(stream)) return call.End(CUDA_ERROR_INVALID_HANDLE);
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  DRIVER_CALL(cuStreamWaitEvent, stream, event, flags);
  return call.End(fake_gpu::WaitForEvent(Resolve(stream, current_context), event));
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  DRIVER_CALL(cuLaunchHostFunc, stream, function, data);
  fake_gpu::Work work;
  work.type = fake_gpu::Work::Type::kHost;
  work.host = {function, data};
  return call.End(fake_gpu::Enqueue(work, Resolve(stream, current_context)));
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  DRIVER_CALL(cuStreamBeginCapture_v2, stream, mode);
  return call.End(fake_gpu::BeginCapture(Resolve(stream, current_context)));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  DRIVER_CALL(cuStreamEndCapture, stream, graph);
  return call.End(fake_gpu::EndCapture(Resolve(stream, current_context), graph));
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  DRIVER_CALL(cuStreamIsCapturing, stream, status);
  stream = Resolve(stream, current_context);
  if (!fake_gpu::Known(stream)) return call.End(CUDA_ERROR_INVALID_HANDLE);
  *status =
      stream->capture != nullptr ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   const CUgraphEdgeData** edges, size_t* count) {
  DRIVER_CALL(cuStreamGetCaptureInfo_v3, stream, status, id, graph, dependencies, edges, count);
  stream = Resolve(stream, current_context);
  if (!fake_gpu::Known(stream)) return call.End(CUDA_ERROR_INVALID_HANDLE);
  const auto& capture = stream->capture;
  *status = capture != nullptr ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  if (capture == nullptr) return CUDA_SUCCESS;
  if (id != nullptr) *id = capture->graph->id;
  if (graph != nullptr) *graph = capture->graph;
  if (dependencies != nullptr) *dependencies = stream->capture_last.data();
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = stream->capture_last.size();
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  DRIVER_CALL(cuEventCreate, event, flags);
  NEED_CONTEXT();
  static std::atomic<uint32_t> last{0};
  *event = new CUevent_st;
  (*event)->context = context;
  (*event)->flags = flags;
  (*event)->id = last.fetch_add(1) + 1;
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  DRIVER_CALL(cuEventDestroy_v2, event);
  if (event == nullptr || !event->alive.exchange(false)) return call.End(CUDA_ERROR_INVALID_HANDLE);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  DRIVER_CALL(cuEventRecord, event, stream);
  return call.End(fake_gpu::RecordEvent(event, Resolve(stream, current_context)));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  DRIVER_CALL(cuEventRecordWithFlags, event, stream, flags);
  return call.End(fake_gpu::RecordEvent(event, Resolve(stream, current_context)));
}

CUresult cuEventSynchronize(CUevent event) {
  DRIVER_CALL(cuEventSynchronize, event);
  return call.End(fake_gpu::SynchronizeEvent(event));
}

CUresult cuEventQuery(CUevent event) {
  DRIVER_CALL(cuEventQuery, event);
  return call.End(fake_gpu::QueryEvent(event));
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  DRIVER_CALL(cuEventElapsedTime_v2, milliseconds, start, end);
  if (start == nullptr || end == nullptr || !start->recorded || !end->recorded) {
    return call.End(CUDA_ERROR_INVALID_HANDLE);
  }
  *milliseconds = static_cast<float>(static_cast<int64_t>(end->time - start->time)) / 1e6F;
  return CUDA_SUCCESS;
}
