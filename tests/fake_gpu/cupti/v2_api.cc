// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The entry points of 13.3 that name their subscriber, after its headers. Sizes of what is only
// passed on are not looked at. What this copies: several subscribers each have their own kinds,
// buffers and thread ids; the two generations of entry points do not mix; they need a driver of
// their age.

#include <bit>
#include <cstring>

#include "tests/fake_gpu/cupti/buffers.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/cupti/v2.h"
#include "tests/fake_gpu/device/script.h"

using fake_gpu_cupti::Gate;
using fake_gpu_cupti::TheState;

namespace {

using fake_gpu_cupti::Client;

// Each begins with it.
CUptiResult Enter(const char* function, CUpti_SubscriberHandle subscriber, Client** client) {
  if (const CUptiResult gate = Gate(function, true); gate != CUPTI_SUCCESS) return gate;
  if (fake_gpu::TheScript().driver_version < fake_gpu_cupti::kDriverOfV2)
    return CUPTI_ERROR_NOT_SUPPORTED;
  *client = nullptr;
  fake_gpu_cupti::EachClient([&](Client& one, size_t) {
    if (subscriber != nullptr && one.subscriber.load() == subscriber) *client = &one;
  });
  if (*client == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return TheState().several.load() ? CUPTI_SUCCESS : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

size_t NumberOf(const Client* client) { return static_cast<size_t>(client - TheState().clients); }

// One byte or, of the thread ids, four.
template <typename T>
CUptiResult Tell(T value, size_t* size, void* to) {
  if (size == nullptr || to == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (*size < sizeof value) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  memcpy(to, &value, sizeof value);
  *size = sizeof value;
  return CUPTI_SUCCESS;
}

}  // namespace

CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber, RequestV2 request,
                                              CompleteV2 complete) {
  Client* client = nullptr;
  const CUptiResult enter = Enter("cuptiActivityRegisterCallbacks_v2", subscriber, &client);
  if (enter != CUPTI_SUCCESS) return enter;
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  fake_gpu_cupti::SetBufferCallbacks(NumberOf(client),
                                     {.request_v2 = request, .complete_v2 = complete});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                   void*) {
  Client* client = nullptr;
  const CUptiResult enter = Enter("cuptiActivityEnable_v2", subscriber, &client);
  return enter != CUPTI_SUCCESS ? enter : fake_gpu_cupti::SetKind(client, kind, true);
}

CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                    void*) {
  Client* client = nullptr;
  const CUptiResult enter = Enter("cuptiActivityDisable_v2", subscriber, &client);
  return enter != CUPTI_SUCCESS ? enter : fake_gpu_cupti::SetKind(client, kind, false);
}

CUptiResult cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle subscriber,
                                          CUpti_ActivityKind kind, void*) {
  Client* client = nullptr;
  const CUptiResult enter = Enter("cuptiActivityEnableAndDump_v2", subscriber, &client);
  if (enter != CUPTI_SUCCESS) return enter;
  const CUptiResult result = fake_gpu_cupti::SetKind(client, kind, true);
  if (result == CUPTI_SUCCESS) fake_gpu_cupti::Dump(kind);
  return result;
}

CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t* buffer,
                                          size_t valid, CUpti_Activity** record) {
  Client* client = nullptr;
  const CUptiResult enter = Enter("cuptiActivityGetNextRecord_v2", subscriber, &client);
  if (const int code = fake_gpu::TheScript().exit_read;
      code != 0 && TheState().driver_exited.load()) {
    return static_cast<CUptiResult>(code);
  }
  return enter != CUPTI_SUCCESS ? enter : fake_gpu_cupti::NextRecord(buffer, valid, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle subscriber, CUcontext,
                                                 uint32_t, size_t* dropped) {
  Client* client = nullptr;
  const CUptiResult enter = Enter("cuptiActivityGetNumDroppedRecords_v2", subscriber, &client);
  if (enter == CUPTI_SUCCESS) *dropped = fake_gpu_cupti::TakeDropped(NumberOf(client));
  return enter;
}

// Of all together where none is named; only their number is given here.
CUptiResult cuptiActivityGetEnabledKinds(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind*,
                                         uint32_t*, uint32_t* count) {
  const CUptiResult gate = Gate("cuptiActivityGetEnabledKinds", true);
  if (gate != CUPTI_SUCCESS) return gate;
  if (subscriber != nullptr || count == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  uint64_t kinds = 0;
  fake_gpu_cupti::EachClient([&](const Client& one, size_t) { kinds |= one.kinds.load(); });
  *count = static_cast<uint32_t>(std::popcount(kinds));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp_v2(CUpti_SubscriberHandle subscriber, uint64_t* timestamp) {
  Client* client = nullptr;
  const CUptiResult enter = Enter("cuptiGetTimestamp_v2", subscriber, &client);
  return enter != CUPTI_SUCCESS ? enter : cuptiGetTimestamp(timestamp);
}

CUptiResult cuptiActivityGetAttribute_v2(CUpti_SubscriberHandle subscriber,
                                         CUpti_ActivityAttribute attribute, size_t* size,
                                         void* value) {
  Client* client = nullptr;
  const CUptiResult enter = Enter("cuptiActivityGetAttribute_v2", subscriber, &client);
  if (enter != CUPTI_SUCCESS) return enter;
  if (attribute == kAttributeThreadIdType)
    return Tell<int>(client->system_thread_ids.load() ? 1 : 0, size, value);
  if (attribute == kAttributeAllSyncRecords)
    return Tell<uint8_t>(client->all_sync_records.load(), size, value);
  if (attribute == kAttributeGraphTrace)
    return Tell<uint8_t>(TheState().graphs_as_wholes.load(), size, value);
  if (attribute == kAttributeMultipleSubscriberState) return Tell<uint8_t>(1, size, value);
  return cuptiActivityGetAttribute(attribute, size, value);
}

CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle subscriber,
                                         CUpti_ActivityAttribute attribute, size_t* size,
                                         void* value) {
  Client* client = nullptr;
  const CUptiResult enter = Enter("cuptiActivitySetAttribute_v2", subscriber, &client);
  if (enter != CUPTI_SUCCESS) return enter;
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (attribute == kAttributeThreadIdType) {
    if (*size < sizeof(int)) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    client->system_thread_ids.store(*static_cast<const int*>(value) ==
                                    CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    return CUPTI_SUCCESS;
  }
  if (attribute == kAttributeAllSyncRecords) {
    client->all_sync_records.store(*static_cast<const uint8_t*>(value) != 0);
    return CUPTI_SUCCESS;
  }
  if (attribute == kAttributeGraphTrace) {
    bool any = false;
    fake_gpu_cupti::EachClient(
        [&](const Client& one, size_t) { any = any || one.kinds.load() != 0; });
    if (any) return CUPTI_ERROR_INVALID_OPERATION;
    TheState().graphs_as_wholes.store(*static_cast<const uint8_t*>(value) != 0);
    return CUPTI_SUCCESS;
  }
  return cuptiActivitySetAttribute(attribute, size, value);
}
