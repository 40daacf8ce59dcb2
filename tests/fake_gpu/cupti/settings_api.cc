// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Attributes, switches, ids of objects, and time.

#include <cstring>
#include <map>
#include <mutex>

#include "tests/fake_gpu/cupti/buffers.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/device.h"
#include "tests/fake_gpu/device/script.h"

using fake_gpu_cupti::Gate;
using fake_gpu_cupti::TheState;

namespace {

struct Attribute {
  size_t size;
  uint64_t value;
};

std::map<uint32_t, Attribute>& Attributes() {
  static auto* const attributes = new std::map<uint32_t, Attribute>{
      {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, {sizeof(size_t), 3200000}},
      {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP, {sizeof(size_t), 8 << 20}},
      {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, {sizeof(size_t), 250}},
      {CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, {sizeof(uint8_t), 0}},
      {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, {sizeof(size_t), 3}},
      {CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED,
       {sizeof(uint8_t), fake_gpu_cupti::kPinnedBuffers}},
      {CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER,
       {sizeof(uint8_t), fake_gpu_cupti::kPerThreadBuffers}},
      {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS, {sizeof(size_t), 16 << 20}},
  };
  return *attributes;
}

Attribute* Find(uint32_t attribute) {
  const auto found = Attributes().find(attribute);
  if (found == Attributes().end()) return nullptr;
  // Attributes of 12.3.
  if (attribute >= CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER && fake_gpu_cupti::kVersion < 21)
    return nullptr;
  return &found->second;
}

CUptiResult Switch(const char* function) { return Gate(function, true); }

}  // namespace

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                      void* value) {
  if (const CUptiResult gate = Gate("cuptiActivityGetAttribute", true); gate != CUPTI_SUCCESS)
    return gate;
  const Attribute* found = Find(attribute);
  if (found == nullptr || size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (*size < found->size) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  memcpy(value, &found->value, found->size);
  *size = found->size;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                      void* value) {
  if (const CUptiResult gate = Gate("cuptiActivitySetAttribute", true); gate != CUPTI_SUCCESS)
    return gate;
  Attribute* found = Find(attribute);
  if (found == nullptr || size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (*size < found->size) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  found->value = 0;
  memcpy(&found->value, value, found->size);
  if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER) {
    fake_gpu_cupti::SetPerThread(found->value != 0);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (const CUptiResult gate = Gate("cuptiSetThreadIdType", false); gate != CUPTI_SUCCESS)
    return gate;
  if (TheState().several.load()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (type > CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) return CUPTI_ERROR_INVALID_PARAMETER;
  TheState().clients[0].system_thread_ids.store(type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *type = TheState().clients[0].system_thread_ids.load() ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                                         : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  if (const CUptiResult gate = Gate("cuptiGetTimestamp", false); gate != CUPTI_SUCCESS) return gate;
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = fake_gpu_cupti::CallTime();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  const CUptiResult gate = Gate("cuptiActivityRegisterTimestampCallback", true);
  if (gate != CUPTI_SUCCESS) return gate;
  if (function == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  TheState().registered = fake_gpu_cupti::ReadClock(function);
  TheState().timestamp.store(function);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable) {
  const CUptiResult gate = Switch("cuptiActivityEnableAllSyncRecords");
  if (gate != CUPTI_SUCCESS) return gate;
  if (TheState().several.load()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  TheState().clients[0].all_sync_records.store(enable != 0);
  return CUPTI_SUCCESS;
}

// Accepted, without effect in the simulation.
CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t) {
  return Switch("cuptiActivityEnableLatencyTimestamps");
}
CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t) {
  return Switch("cuptiActivityEnableLaunchAttributes");
}
CUptiResult cuptiActivityEnableDeviceGraph(uint8_t) {
  return Switch("cuptiActivityEnableDeviceGraph");
}
CUptiResult cuptiActivityEnableAllocationSource(uint8_t) {
  return Switch("cuptiActivityEnableAllocationSource");
}
CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t) {
  return Switch("cuptiActivityEnableCudaEventDeviceTimestamps");
}

// Hardware events are Blackwell's; this device is not one.
CUptiResult cuptiActivityEnableHWTrace(uint8_t enable) {
  const CUptiResult gate = Switch("cuptiActivityEnableHWTrace");
  if (gate != CUPTI_SUCCESS) return gate;
  return enable != 0 ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* id) {
  if (context == nullptr || !context->alive.load()) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = static_cast<uint32_t>(context->device);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
  if (context == nullptr || !context->alive.load()) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = context->id;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
                               uint32_t* id) {
  if (const CUptiResult gate = Gate("cuptiGetStreamIdEx", false); gate != CUPTI_SUCCESS)
    return gate;
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  CUcontext of = context != nullptr ? context : fake_gpu::current_context;
  CUstream resolved =
      per_thread != 0 ? fake_gpu::ResolvePerThread(stream) : fake_gpu::Resolve(stream, of);
  if (!fake_gpu::Known(resolved)) return CUPTI_ERROR_INVALID_STREAM;
  if (context != nullptr && resolved->context != context) return CUPTI_ERROR_INVALID_STREAM;
  *id = resolved->id;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* id) {
  return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  if (node == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = node->id;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  if (graph == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = graph->id;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t* id) {
  if (exec == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = exec->id;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceSupported(CUdevice device, int* support) {
  if (const CUptiResult gate = Gate("cuptiDeviceSupported", true); gate != CUPTI_SUCCESS)
    return gate;
  if (device < 0 || device >= fake_gpu::TheScript().devices) return CUPTI_ERROR_INVALID_DEVICE;
  *support = 1;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiComputeCapabilitySupported(int major, int minor, int* support) {
  if (support == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *support = fake_gpu_cupti::kMajor < 13 || major * 10 + minor >= 75;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceVirtualizationMode(CUdevice, CUpti_DeviceVirtualizationMode* mode) {
  *mode = CUPTI_DEVICE_VIRTUALIZATION_MODE_NONE;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetLastError() { return CUPTI_SUCCESS; }
