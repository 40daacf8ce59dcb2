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
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

using fake_gpu_cupti::Gate;
using fake_gpu_cupti::TheState;

namespace {

constexpr uint32_t kDomains = fake_gpu_cupti::kHasStateDomain ? 7 : 6;

CUptiResult Subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* data,
                      const char* name) {
  static std::mutex* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (TheState().subscriber.load() != nullptr)
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  // Never freed: a callback may still be under way when it goes.
  auto* subscriber = new CUpti_Subscriber_st;
  subscriber->callback = callback;
  subscriber->data = data;
  // The library puts its own name before the tool's.
  snprintf(subscriber->name, sizeof subscriber->name, "%s%s",
           name != nullptr ? "CUPTI for " : "CUPTI", name != nullptr ? name : "");
  TheState().subscriber.store(subscriber);
  fake_gpu::TruthLine("{\"t\":\"subscriber\",\"version\":%u}", fake_gpu_cupti::kVersion);
  fake_gpu_cupti::UpdateWants();
  *handle = subscriber;
  return CUPTI_SUCCESS;
}

bool AllowsSeveral(const CUpti_SubscriberParams* parameters) {
  if (fake_gpu_cupti::kVersion < 130300 ||
      parameters->structSize < offsetof(SubscriberParamsV2, allowMultipleSubscribers) + 4 ||
      fake_gpu::TheScript().driver_version < fake_gpu_cupti::kDriverOfV2) {
    return false;
  }
  return reinterpret_cast<const SubscriberParamsV2*>(parameters)->allowMultipleSubscribers != 0;
}

bool IsSubscriber(CUpti_SubscriberHandle handle) {
  return handle != nullptr && handle == TheState().subscriber.load();
}

void SetAll(uint32_t domain, bool enable) {
  for (auto& flag : TheState().called_back[domain]) flag.store(enable, std::memory_order_relaxed);
}

}  // namespace

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                           void* data) {
  if (const CUptiResult gate = Gate("cuptiSubscribe", true); gate != CUPTI_SUCCESS) return gate;
  return Subscribe(handle, callback, data, nullptr);
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                              void* data, CUpti_SubscriberParams* parameters) {
  if (parameters == nullptr || parameters->structSize < CUpti_SubscriberParams_STRUCT_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  CUptiResult result = Gate("cuptiSubscribe_v2", true);
  const bool scripted = result != CUPTI_SUCCESS;
  const CUpti_SubscriberHandle holder = TheState().subscriber.load();
  if (!scripted) {
    result = Subscribe(handle, callback, data, parameters->subscriberName);
    if (result == CUPTI_SUCCESS) TheState().several.store(AllowsSeveral(parameters));
  }
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
      parameters->oldSubscriberName != nullptr) {
    const char* name = scripted ? fake_gpu::TheScript().subscriber.c_str() : holder->name;
    snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize, "%s", name);
  }
  return result;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  if (const CUptiResult gate = Gate("cuptiUnsubscribe", true); gate != CUPTI_SUCCESS) return gate;
  if (!IsSubscriber(handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  for (uint32_t domain = 0; domain < kDomains; ++domain) SetAll(domain, false);
  TheState().subscriber.store(nullptr);
  TheState().several.store(false);
  fake_gpu_cupti::UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (const CUptiResult gate = Gate("cuptiEnableCallback", true); gate != CUPTI_SUCCESS)
    return gate;
  if (!IsSubscriber(handle) || domain == 0 || domain >= kDomains ||
      id >= fake_gpu_cupti::kMostIds) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  TheState().called_back[domain][id].store(enable != 0);
  fake_gpu_cupti::UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain) {
  if (const CUptiResult gate = Gate("cuptiEnableDomain", true); gate != CUPTI_SUCCESS) return gate;
  if (!IsSubscriber(handle) || domain == 0 || domain >= kDomains)
    return CUPTI_ERROR_INVALID_PARAMETER;
  SetAll(domain, enable != 0);
  fake_gpu_cupti::UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle) {
  if (const CUptiResult gate = Gate("cuptiEnableAllDomains", true); gate != CUPTI_SUCCESS)
    return gate;
  if (!IsSubscriber(handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  for (uint32_t domain = 1; domain < kDomains; ++domain) SetAll(domain, enable != 0);
  fake_gpu_cupti::UpdateWants();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (const CUptiResult gate = Gate("cuptiGetCallbackState", true); gate != CUPTI_SUCCESS)
    return gate;
  if (enable == nullptr || !IsSubscriber(handle) || domain >= kDomains ||
      id >= fake_gpu_cupti::kMostIds) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *enable = TheState().called_back[domain][id].load() ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
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
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = fake_gpu_cupti::kVersion;
  return CUPTI_SUCCESS;
}
