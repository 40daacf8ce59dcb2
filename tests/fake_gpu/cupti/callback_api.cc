// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The entry points of the Callback API.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "tests/fake_gpu/cupti/names.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/cupti/v2.h"
#include "tests/fake_gpu/device/playback.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

using fake_gpu_cupti::Gate;
using fake_gpu_cupti::TheState;

namespace {

constexpr uint32_t kDomains = fake_gpu_cupti::kHasStateDomain ? 7 : 6;

// The first that nobody has.
fake_gpu_cupti::Client* FreeClient(size_t* number) {
  for (*number = 0; *number < fake_gpu_cupti::kMostClients; ++*number) {
    if (TheState().clients[*number].subscriber.load() == nullptr)
      return &TheState().clients[*number];
  }
  return nullptr;
}

// Whoever has been there longest.
CUpti_SubscriberHandle Holder() {
  CUpti_SubscriberHandle holder = nullptr;
  fake_gpu_cupti::EachClient([&](const fake_gpu_cupti::Client& client, size_t) {
    if (holder == nullptr) holder = client.subscriber.load();
  });
  return holder;
}

// Never freed: a callback may still be under way when it goes. Of those without a name there is one
// at a time, and all have the same handle.
CUpti_SubscriberHandle HandleFor(const char* name) {
  static CUpti_Subscriber_st* const unnamed = new CUpti_Subscriber_st{.name = "CUPTI"};
  if (name == nullptr) return unnamed;
  auto* subscriber = new CUpti_Subscriber_st;
  // The library puts its own name before the tool's.
  snprintf(subscriber->name, sizeof subscriber->name, "CUPTI for %s", name);
  return subscriber;
}

CUptiResult Subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* data,
                      const char* name, bool several) {
  static std::mutex* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  fake_gpu_cupti::State& state = TheState();
  if (Holder() != nullptr && (!several || !state.several.load()))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  size_t number = 0;
  fake_gpu_cupti::Client* client = FreeClient(&number);
  if (client == nullptr) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  CUpti_SubscriberHandle subscriber = HandleFor(name);
  subscriber->callback.store(callback);
  subscriber->data.store(data);
  subscriber->client.store(number);
  state.several.store(several);
  if (several) client->all_sync_records.store(false);
  client->subscriber.store(subscriber);
  if (state.clients_used.load() <= number) state.clients_used.store(number + 1);
  fake_gpu::TruthLine("{\"t\":\"subscriber\",\"version\":%u}", fake_gpu_cupti::kVersion);
  fake_gpu_cupti::UpdateWants();
  *handle = subscriber;
  return CUPTI_SUCCESS;
}

bool AllowsSeveral(const CUpti_SubscriberParams* parameters) {
  if (parameters == nullptr || fake_gpu_cupti::kVersion < 130300 ||
      fake_gpu::TheScript().driver_version < fake_gpu_cupti::kDriverOfV2) {
    return false;
  }
  return reinterpret_cast<const SubscriberParamsV2*>(parameters)->allowMultipleSubscribers != 0;
}

// Its own release's alone, as the real one of 13.0 was seen to do (33 and 40 are refused).
bool KnowsSize(const CUpti_SubscriberParams& parameters) {
  constexpr size_t kSize = fake_gpu_cupti::kVersion >= 130200 ? sizeof(SubscriberParamsV2)
                                                              : CUpti_SubscriberParams_STRUCT_SIZE;
  return parameters.structSize == kSize;
}

// From 13.3 on the real one tells nothing of itself without a driver.
CUptiResult GateOfFacts(const char* function) {
  if (const CUptiResult gate = Gate(function, false); gate != CUPTI_SUCCESS) return gate;
  return fake_gpu_cupti::kVersion < 130300 || fake_gpu_cupti::HasDriver() ? CUPTI_SUCCESS
                                                                          : CUPTI_ERROR_UNKNOWN;
}

// Null: no subscriber.
fake_gpu_cupti::Client* ClientOf(CUpti_SubscriberHandle handle) {
  fake_gpu_cupti::Client* found = nullptr;
  fake_gpu_cupti::EachClient([&](fake_gpu_cupti::Client& client, size_t) {
    if (handle != nullptr && client.subscriber.load() == handle) found = &client;
  });
  return found;
}

void SetAll(fake_gpu_cupti::Client* client, uint32_t domain, bool enable) {
  for (auto& flag : client->called_back[domain]) flag.store(enable, std::memory_order_relaxed);
}

}  // namespace

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                           void* data) {
  if (const CUptiResult gate = Gate("cuptiSubscribe", true); gate != CUPTI_SUCCESS) return gate;
  return Subscribe(handle, callback, data, nullptr, false);
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                              void* data, CUpti_SubscriberParams* parameters) {
  if (parameters != nullptr && !KnowsSize(*parameters)) return CUPTI_ERROR_INVALID_PARAMETER;
  CUptiResult result = Gate("cuptiSubscribe_v2", true);
  const bool scripted = result != CUPTI_SUCCESS;
  const CUpti_SubscriberHandle holder = Holder();
  if (!scripted) {
    const char* name = parameters != nullptr ? parameters->subscriberName : nullptr;
    result = Subscribe(handle, callback, data, name, AllowsSeveral(parameters));
  }
  // With several allowed, the name of the first.
  const bool tells = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ||
                     (result == CUPTI_SUCCESS && holder != nullptr);
  if (tells && parameters != nullptr && parameters->oldSubscriberName != nullptr) {
    const char* name =
        scripted || holder == nullptr ? fake_gpu::TheScript().subscriber.c_str() : holder->name;
    snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize, "%s", name);
  }
  return result;
}

// What the first generation has enabled outlives its subscriber, what the second has does not.
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  if (const CUptiResult gate = Gate("cuptiUnsubscribe", true); gate != CUPTI_SUCCESS) return gate;
  fake_gpu_cupti::Client* client = ClientOf(handle);
  if (client == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  for (uint32_t domain = 0; domain < kDomains; ++domain) SetAll(client, domain, false);
  if (TheState().several.load()) fake_gpu_cupti::Reset(client);
  client->subscriber.store(nullptr);
  if (Holder() == nullptr) TheState().several.store(false);
  fake_gpu_cupti::UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (const CUptiResult gate = Gate("cuptiEnableCallback", true); gate != CUPTI_SUCCESS)
    return gate;
  fake_gpu_cupti::Client* client = ClientOf(handle);
  if (client == nullptr || domain == 0 || domain >= kDomains || id >= fake_gpu_cupti::kMostIds) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  client->called_back[domain][id].store(enable != 0);
  fake_gpu_cupti::UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain) {
  if (const CUptiResult gate = Gate("cuptiEnableDomain", true); gate != CUPTI_SUCCESS) return gate;
  fake_gpu_cupti::Client* client = ClientOf(handle);
  if (client == nullptr || domain == 0 || domain >= kDomains) return CUPTI_ERROR_INVALID_PARAMETER;
  SetAll(client, domain, enable != 0);
  fake_gpu_cupti::UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle) {
  if (const CUptiResult gate = Gate("cuptiEnableAllDomains", true); gate != CUPTI_SUCCESS)
    return gate;
  fake_gpu_cupti::Client* client = ClientOf(handle);
  if (client == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  for (uint32_t domain = 1; domain < kDomains; ++domain) SetAll(client, domain, enable != 0);
  fake_gpu_cupti::UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (const CUptiResult gate = Gate("cuptiGetCallbackState", true); gate != CUPTI_SUCCESS)
    return gate;
  const fake_gpu_cupti::Client* client = ClientOf(handle);
  if (enable == nullptr || client == nullptr || domain >= kDomains ||
      id >= fake_gpu_cupti::kMostIds) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *enable = client->called_back[domain][id].load() ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
  if (const CUptiResult gate = GateOfFacts("cuptiGetCallbackName"); gate != CUPTI_SUCCESS)
    return gate;
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = fake_gpu_cupti::CallbackName(domain, id);
  return *name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *text = fake_gpu_cupti::ResultName(result);
  return *text != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
  return cuptiGetResultString(result, text);
}

CUptiResult cuptiGetVersion(uint32_t* version) {
  if (const CUptiResult gate = GateOfFacts("cuptiGetVersion"); gate != CUPTI_SUCCESS) return gate;
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const fake_gpu::Playback* playback = fake_gpu::ThePlayback();
  *version = playback != nullptr ? playback->version : fake_gpu_cupti::kVersion;
  return CUPTI_SUCCESS;
}
