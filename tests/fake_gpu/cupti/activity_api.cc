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
#include "tests/fake_gpu/device/call.h"
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

CUptiResult CheckKind(const fake_gpu_cupti::Client& client, uint32_t kind) {
  if (kind == 0 || kind > fake_gpu_cupti::kLastKind) return CUPTI_ERROR_INVALID_KIND;
  if (fake_gpu_cupti::kVersion >= 130000 &&
      std::count(std::begin(kLegacy), std::end(kLegacy), kind) != 0) {
    return CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
  }
  if (kind == CUPTI_ACTIVITY_KIND_FUNCTION || kind == CUPTI_ACTIVITY_KIND_MODULE) {
    return CUPTI_ERROR_NOT_COMPATIBLE;
  }
  const uint64_t kinds = client.kinds.load();
  const bool conflict = (kind == CUPTI_ACTIVITY_KIND_KERNEL &&
                         (kinds & Bit(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) != 0) ||
                        (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
                         (kinds & Bit(CUPTI_ACTIVITY_KIND_KERNEL)) != 0);
  return conflict ? CUPTI_ERROR_NOT_COMPATIBLE : CUPTI_SUCCESS;
}

// Enabling or disabling a kind forgets what was chosen call by call.
void SetCalls(fake_gpu_cupti::Client* client, uint32_t kind, bool enable) {
  const bool driver = kind == CUPTI_ACTIVITY_KIND_DRIVER;
  if (!driver && kind != CUPTI_ACTIVITY_KIND_RUNTIME) return;
  for (auto& flag : client->recorded[driver ? 1 : 2]) flag.store(enable, std::memory_order_relaxed);
}

// Entry points of the first generation end here when the second is in use.
CUptiResult GateFirst(const char* function) {
  if (const CUptiResult gate = Gate(function, true); gate != CUPTI_SUCCESS) return gate;
  return TheState().several.load() ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
}

CUptiResult SetKind(const char* function, uint32_t kind, bool enable) {
  if (const CUptiResult gate = GateFirst(function); gate != CUPTI_SUCCESS) return gate;
  const std::string with_kind = std::string(function) + ":" + std::to_string(kind);
  if (const int code = fake_gpu::ScriptedFailure(with_kind.c_str()); code != 0)
    return static_cast<CUptiResult>(code);
  return fake_gpu_cupti::SetKind(&TheState().clients[0], kind, enable);
}

CUptiResult SetCall(const char* function, uint32_t domain, CUpti_CallbackId id, uint8_t enable) {
  if (const CUptiResult gate = GateFirst(function); gate != CUPTI_SUCCESS) return gate;
  return fake_gpu_cupti::SetCall(&TheState().clients[0], domain, id, enable != 0);
}

// Scope and device have no meaning any more. All of them are configured, or none is.
CUptiResult ConfigureUnifiedMemory(const CUpti_ActivityUnifiedMemoryCounterConfig* config,
                                   uint32_t count) {
  if (!fake_gpu::driver_initialised.load()) return CUPTI_ERROR_NOT_INITIALIZED;
  const std::string function = "cuptiActivityConfigureUnifiedMemoryCounter";
  if (const CUptiResult gate = GateFirst(function.c_str()); gate != CUPTI_SUCCESS) return gate;
  if (config == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  uint32_t counters = TheState().um_counters.load();
  for (uint32_t i = 0; i < count; ++i) {
    const auto kind = static_cast<uint32_t>(config[i].kind);
    if (kind == 0 || kind >= CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT)
      return CUPTI_ERROR_INVALID_PARAMETER;
    const std::string with_kind = function + ":" + std::to_string(kind);
    if (const int code = fake_gpu::ScriptedFailure(with_kind.c_str()); code != 0)
      return static_cast<CUptiResult>(code);
    counters = config[i].enable != 0 ? counters | 1u << kind : counters & ~(1u << kind);
  }
  TheState().um_counters.store(counters);
  return CUPTI_SUCCESS;
}

}  // namespace

CUptiResult fake_gpu_cupti::SetKind(Client* client, uint32_t kind, bool enable) {
  uint64_t bits = kind < 64 ? Bit(kind) : 0;
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) bits |= Bit(CUPTI_ACTIVITY_KIND_MEMCPY2);
  if (enable) {
    if (const CUptiResult check = CheckKind(*client, kind); check != CUPTI_SUCCESS) return check;
    client->kinds.fetch_or(bits);
  } else {
    if (kind == 0 || kind > kLastKind) return CUPTI_ERROR_INVALID_KIND;
    client->kinds.fetch_and(~bits);
  }
  fake_gpu::TruthLine("{\"t\":\"kind\",\"kind\":%u,\"enabled\":%d,\"time\":%lu}", kind,
                      enable ? 1 : 0, fake_gpu::Monotonic());
  SetCalls(client, kind, enable);
  UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult fake_gpu_cupti::SetCall(Client* client, uint32_t domain, CUpti_CallbackId id,
                                    bool enable) {
  if (id == 0 || id >= kMostIds) return CUPTI_ERROR_INVALID_PARAMETER;
  client->recorded[domain][id].store(enable);
  UpdateWants();
  return CUPTI_SUCCESS;
}

void fake_gpu_cupti::Reset(Client* client) {
  client->kinds.store(0);
  for (auto& domain : client->recorded) {
    for (auto& flag : domain) flag.store(false);
  }
  for (auto& domain : client->called_back) {
    for (auto& flag : domain) flag.store(false);
  }
  client->system_thread_ids.store(false);
  client->all_sync_records.store(true);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  const CUptiResult gate = Gate("cuptiActivityRegisterCallbacks", false);
  if (gate != CUPTI_SUCCESS) return gate;
  if (TheState().several.load()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  fake_gpu_cupti::SetBufferCallbacks(0, {.request = request, .complete = complete});
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
  if (TheState().several.load()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (const int code = fake_gpu::ScriptedFailure("cuptiActivityGetNextRecord"); code != 0)
    return static_cast<CUptiResult>(code);
  if (const int code = fake_gpu::TheScript().exit_read;
      code != 0 && TheState().driver_exited.load()) {
    return static_cast<CUptiResult>(code);
  }
  return fake_gpu_cupti::NextRecord(buffer, valid, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, uint32_t /*stream*/,
                                              size_t* dropped) {
  const CUptiResult gate = GateFirst("cuptiActivityGetNumDroppedRecords");
  if (gate != CUPTI_SUCCESS) return gate;
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = fake_gpu_cupti::TakeDropped(0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(
    CUpti_ActivityUnifiedMemoryCounterConfig* config, uint32_t count) {
  const CUptiResult result = ConfigureUnifiedMemory(config, count);
  fake_gpu::TruthLine("{\"t\":\"um_configured\",\"count\":%u,\"result\":%d}", count, result);
  return result;
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
  size_t subscribers = 0;
  fake_gpu_cupti::EachClient([&](const fake_gpu_cupti::Client& client, size_t) {
    subscribers += client.subscriber.load() != nullptr ? 1 : 0;
  });
  if (subscribers > 1) return CUPTI_SUCCESS;  // not what the others have
  fake_gpu_cupti::EachClient([](fake_gpu_cupti::Client& client, size_t) {
    fake_gpu_cupti::Reset(&client);
    client.subscriber.store(nullptr);
  });
  TheState().several.store(false);
  UpdateWants();
  fake_gpu_cupti::AbandonBuffers();
  return CUPTI_SUCCESS;
}
