// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Contexts, streams, devices, modules and graphs: their records, and the resource callbacks.

#include <cstring>

#include "tests/fake_gpu/cupti/buffers.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/sink.h"
#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/device.h"
#include "tests/fake_gpu/device/script.h"

namespace fake_gpu_cupti {
namespace {

using fake_gpu::Object;
using fake_gpu::ObjectEvent;

void WriteContext(CUcontext context) {
  CUpti_ActivityContext3 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  record.contextId = context->id;
  record.deviceId = static_cast<uint32_t>(context->device);
  record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  record.nullStreamId = static_cast<uint16_t>(context->null_stream->id);
  record.parentContextId = CUPTI_INVALID_CONTEXT_ID;
  record.numMultiprocessors = 108;
  Append({&record, sizeof record}, false, 0);
}

void WriteStream(CUstream stream) {
  CUpti_ActivityStream record{};
  record.kind = CUPTI_ACTIVITY_KIND_STREAM;
  record.contextId = stream->context->id;
  record.streamId = stream->id;
  record.priority = static_cast<uint32_t>(stream->priority);
  record.flag = stream->legacy ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL
                : (stream->flags & CU_STREAM_NON_BLOCKING) != 0
                    ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
                    : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
  record.correlationId = fake_gpu::CurrentCorrelation();
  Append({&record, sizeof record}, false, 0);
}

void WriteDevices() {
  for (int device = 0; device < fake_gpu::TheScript().devices; ++device) {
    CUpti_ActivityDevice5 record{};
    record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    record.flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS;
    record.globalMemoryBandwidth = 1555200000;
    record.globalMemorySize = fake_gpu::TheScript().memory;
    record.l2CacheSize = 40 << 20;
    record.numThreadsPerWarp = 32;
    record.coreClockRate = 1410000;
    record.numMemcpyEngines = 2;
    record.numMultiprocessors = 108;
    record.maxWarpsPerMultiprocessor = 64;
    record.maxBlocksPerMultiprocessor = 32;
    record.maxSharedMemoryPerMultiprocessor = 164 * 1024;
    record.maxRegistersPerMultiprocessor = record.maxRegistersPerBlock = 65536;
    record.maxSharedMemoryPerBlock = 48 * 1024;
    record.maxThreadsPerBlock = 1024;
    record.computeCapabilityMajor = 8;
    record.id = static_cast<uint32_t>(device);
    record.name = "Simulated GPU";
    record.isCudaVisible = 1;
    record.gpuInstanceId = record.computeInstanceId = UINT32_MAX;
    memset(record.uuid.bytes, 0xf0 + device, sizeof record.uuid.bytes);
    Append({&record, sizeof record}, false, 0);
  }
}

void WriteRecords(const Object& object) {
  if (object.event == ObjectEvent::kContextCreated && Enabled(CUPTI_ACTIVITY_KIND_CONTEXT)) {
    WriteContext(object.context);
  }
  if (object.event == ObjectEvent::kStreamCreated && Enabled(CUPTI_ACTIVITY_KIND_STREAM)) {
    WriteStream(object.stream);
  }
  if (object.event == ObjectEvent::kInitFinished && Enabled(CUPTI_ACTIVITY_KIND_DEVICE))
    WriteDevices();
}

}  // namespace

void CuptiSink::ObjectChanged(const Object& object) {
  WriteRecords(object);
  CUpti_ModuleResourceData module{};
  CUpti_GraphData graph{};
  CUpti_ResourceData data{};
  data.context = object.context;
  data.resourceHandle.stream = object.stream;
  if (object.module != nullptr) {
    module.moduleId = object.module->id;
    module.cubinSize = object.module->image_size;
    module.pCubin = static_cast<const char*>(object.module->image);
    data.resourceDescriptor = &module;
  }
  if (object.event >= ObjectEvent::kGraphCreated) {
    graph.graph = object.graph;
    graph.originalGraph = object.original_graph;
    graph.node = object.node;
    graph.originalNode = object.original_node;
    graph.dependency = object.dependency;
    graph.graphExec = object.exec;
    data.resourceDescriptor = &graph;
  }
  // Whatever the node does (seen with 13.0 on an H200).
  graph.nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
  CallBack(CUPTI_CB_DOMAIN_RESOURCE, static_cast<uint32_t>(object.event), &data);
}

void Dump(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) WriteDevices();
  for (CUcontext context : fake_gpu::LiveContexts()) {
    if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) WriteContext(context);
    if (kind != CUPTI_ACTIVITY_KIND_STREAM) continue;
    const std::lock_guard lock(context->mutex);
    for (CUstream stream : context->streams) WriteStream(stream);
  }
}

}  // namespace fake_gpu_cupti
