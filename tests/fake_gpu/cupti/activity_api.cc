// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The entry points of the Activity API that turn recording on and off and move buffers.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "tests/fake_gpu/cupti/buffers.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

using fake_gpu_cupti::Gate;
using fake_gpu_cupti::kMostIds;
using fake_gpu_cupti::TheState;
using fake_gpu_cupti::UpdateWants;

namespace {

constexpr uint32_t kLegacy[] = {6, 7, 14, 15, 16, 21, 23, 24, 29, 30, 31, 32, 41, 42, 43, 44};

uint64_t Bit(uint32_t kind) { return uint64_t{1} << kind; }

CUptiResult CheckKind(uint32_t kind) {
  if (kind == 0 || kind > fake_gpu_cupti::kLastKind) return CUPTI_ERROR_INVALID_KIND;
  if (fake_gpu_cupti::kVersion >= 130000 &&
      std::count(std::begin(kLegacy), std::end(kLegacy), kind) != 0) {
    return CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
  }
  if (kind == CUPTI_ACTIVITY_KIND_FUNCTION || kind == CUPTI_ACTIVITY_KIND_MODULE) {
    return CUPTI_ERROR_NOT_COMPATIBLE;
  }
  const uint64_t kinds = TheState().kinds.load();
  const bool conflict = (kind == CUPTI_ACTIVITY_KIND_KERNEL &&
                         (kinds & Bit(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) != 0) ||
                        (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
                         (kinds & Bit(CUPTI_ACTIVITY_KIND_KERNEL)) != 0);
  return conflict ? CUPTI_ERROR_NOT_COMPATIBLE : CUPTI_SUCCESS;
}

// Enabling or disabling a kind forgets what was chosen call by call.
void SetCalls(uint32_t kind, bool enable) {
  const bool driver = kind == CUPTI_ACTIVITY_KIND_DRIVER;
  if (!driver && kind != CUPTI_ACTIVITY_KIND_RUNTIME) return;
  for (auto& flag : TheState().recorded[driver ? 1 : 2])
    flag.store(enable, std::memory_order_relaxed);
}

CUptiResult GateKind(const char* function, uint32_t kind) {
  if (const CUptiResult gate = Gate(function, true); gate != CUPTI_SUCCESS) return gate;
  if (TheState().several.load()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  const std::string with_kind = std::string(function) + ":" + std::to_string(kind);
  return static_cast<CUptiResult>(fake_gpu::ScriptedFailure(with_kind.c_str()));
}

CUptiResult SetKind(const char* function, uint32_t kind, bool enable) {
  const CUptiResult gate = GateKind(function, kind);
  return gate != CUPTI_SUCCESS ? gate : fake_gpu_cupti::SetKind(kind, enable);
}

CUptiResult SetCall(const char* function, uint32_t domain, CUpti_CallbackId id, uint8_t enable) {
  if (const CUptiResult gate = Gate(function, true); gate != CUPTI_SUCCESS) return gate;
  if (id == 0 || id >= kMostIds) return CUPTI_ERROR_INVALID_PARAMETER;
  TheState().recorded[domain][id].store(enable != 0);
  UpdateWants();
  return CUPTI_SUCCESS;
}

}  // namespace

CUptiResult fake_gpu_cupti::SetKind(uint32_t kind, bool enable) {
  uint64_t bits = kind < 64 ? Bit(kind) : 0;
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) bits |= Bit(CUPTI_ACTIVITY_KIND_MEMCPY2);
  if (enable) {
    if (const CUptiResult check = CheckKind(kind); check != CUPTI_SUCCESS) return check;
    TheState().kinds.fetch_or(bits);
  } else {
    if (kind == 0 || kind > kLastKind) return CUPTI_ERROR_INVALID_KIND;
    TheState().kinds.fetch_and(~bits);
  }
  fake_gpu::TruthLine("{\"t\":\"kind\",\"kind\":%u,\"enabled\":%d,\"time\":%lu}", kind,
                      enable ? 1 : 0, fake_gpu::Monotonic());
  SetCalls(kind, enable);
  UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  const CUptiResult gate = Gate("cuptiActivityRegisterCallbacks", false);
  if (gate != CUPTI_SUCCESS) return gate;
  if (TheState().several.load()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  fake_gpu_cupti::SetBufferCallbacks(request, complete);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return SetKind("cuptiActivityEnable", kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return SetKind("cuptiActivityDisable", kind, false);
}

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  const CUptiResult result = SetKind("cuptiActivityEnableAndDump", kind, true);
  if (result == CUPTI_SUCCESS) fake_gpu_cupti::Dump(kind);
  return result;
}

// The simulation does not tell contexts apart here.
CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind) {
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  return SetKind("cuptiActivityEnableContext", kind, true);
}

CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind) {
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  return SetKind("cuptiActivityDisableContext", kind, false);
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
  return SetCall("cuptiActivityEnableRuntimeApi", 2, id, enable);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable) {
  return SetCall("cuptiActivityEnableDriverApi", 1, id, enable);
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  if (const CUptiResult gate = Gate("cuptiActivityFlushAll", true); gate != CUPTI_SUCCESS)
    return gate;
  if (const int code = fake_gpu::TheScript().exit_flush;
      code != 0 && TheState().driver_exited.load()) {
    return static_cast<CUptiResult>(code);
  }
  if (!fake_gpu_cupti::HasBufferCallbacks()) return CUPTI_ERROR_INVALID_OPERATION;
  fake_gpu_cupti::Flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlush(CUcontext /*context*/, uint32_t /*stream*/, uint32_t flag) {
  return cuptiActivityFlushAll(flag);
}

CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds) {
  if (const CUptiResult gate = Gate("cuptiActivityFlushPeriod", true); gate != CUPTI_SUCCESS)
    return gate;
  fake_gpu_cupti::SetFlushPeriod(milliseconds);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  return fake_gpu_cupti::NextRecord(buffer, valid, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, uint32_t /*stream*/,
                                              size_t* dropped) {
  const CUptiResult gate = Gate("cuptiActivityGetNumDroppedRecords", true);
  if (gate != CUPTI_SUCCESS) return gate;
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = fake_gpu_cupti::TakeDropped();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   uint64_t id) {
  const CUptiResult gate = Gate("cuptiActivityPushExternalCorrelationId", true);
  if (gate != CUPTI_SUCCESS) return gate;
  if (kind == 0 || kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
    return CUPTI_ERROR_INVALID_PARAMETER;
  fake_gpu_cupti::PushExternal(kind, id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  uint64_t* last) {
  const CUptiResult gate = Gate("cuptiActivityPopExternalCorrelationId", true);
  if (gate != CUPTI_SUCCESS) return gate;
  return fake_gpu_cupti::PopExternal(kind, last) ? CUPTI_SUCCESS : CUPTI_ERROR_QUEUE_EMPTY;
}

CUptiResult cuptiFinalize() {
  if (const CUptiResult gate = Gate("cuptiFinalize", false); gate != CUPTI_SUCCESS) return gate;
  auto& state = TheState();
  state.kinds.store(0);
  for (auto& domain : state.recorded) {
    for (auto& flag : domain) flag.store(false);
  }
  for (auto& domain : state.called_back) {
    for (auto& flag : domain) flag.store(false);
  }
  state.subscriber.store(nullptr);
  state.several.store(false);
  UpdateWants();
  fake_gpu_cupti::AbandonBuffers();
  return CUPTI_SUCCESS;
}
